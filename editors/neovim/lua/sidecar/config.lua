--- What the user can set: `require("sidecar").setup{...}`. See |sidecar-config|.
local M = {}

local defaults = {
  --- The daemon, as a list of arguments.
  cmd = { "sidecar", "serve", "--stdio" },
  --- More environment for it, as a table.
  env = {},
  --- The folder that the agent works in; a path or a function that gives one.
  root = nil,
  --- A function that gives the key, or the name of an environment variable that holds it.
  api_key = nil,
  --- The protocol's InitializationOptions, as they are: model, policy, window, permissions...
  options = {},
  --- Start the daemon with Neovim; otherwise the first command does.
  autostart = true,
  --- Open the session again that this folder had last.
  resume = true,
  --- Tell the model which files are open, and what diagnostics there are.
  context = { open_files = true, diagnostics = true },
  --- Width of the chat: columns, or a share of the screen; height of its input in lines.
  chat = { width = 0.42, input_height = 5 },
}

M.values = vim.deepcopy(defaults)

function M.set(given)
  for name in pairs(given or {}) do
    if defaults[name] == nil and name ~= "root" and name ~= "api_key" then
      vim.notify(("Sidecar has no setting %q: see :help sidecar-config"):format(name), vim.log.levels.WARN)
    end
  end
  M.values = vim.tbl_deep_extend("force", vim.deepcopy(defaults), given or {})
  -- A list is replaced, not mixed with the default's.
  M.values.cmd = given and given.cmd or defaults.cmd
end

--- The absolute path of the folder to work in. Once a daemon was started there, `:cd` changes it no more.
function M.root()
  if M.folder then
    return M.folder
  end
  local root = M.values.root
  if type(root) == "function" then
    root = root()
  end
  return (vim.fn.fnamemodify(root or vim.fn.getcwd(), ":p"):gsub("(.)/$", "%1"))
end

--- What `initialize` carries; the key goes this way and no other.
function M.initialization()
  local options = vim.deepcopy(M.values.options)
  local key = M.values.api_key
  if type(key) == "function" then
    key = key()
  elseif key then
    key = vim.env[key]
  end
  if key and key ~= "" then
    options.provider = vim.tbl_extend("keep", { apiKey = key }, options.provider or {})
  end
  return next(options) and options or vim.empty_dict()
end

return M
