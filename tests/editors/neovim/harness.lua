--- What the scenarios share: they act as a user does, by commands, keys and `vim.ui.select`, and see
--- what a user sees: buffers and the statusline. An error ends Neovim with exit code 1.
local M = {}

local LIMIT = 30000
--- What is chosen next: texts, of which the first item that holds one is taken.
local choices = {}
M.asked = {}
M.said = {}

vim.opt.runtimepath:prepend(vim.env.SIDECAR_PLUGIN)
vim.cmd("runtime plugin/sidecar.lua")
vim.o.statusline = "%f %= %{%v:lua.require'sidecar'.statusline()%}"

function M.setup(more)
  require("sidecar").setup(vim.tbl_extend("force", {
    cmd = { vim.env.SIDECAR_PYTHON, "-m", "sidecar", "serve", "--stdio" },
    options = { model = "offline", window = 60000, workspaceTrusted = true, permissions = { allow = { "write_file", "shell" } } },
  }, more or {}))
end

function M.buffer(name)
  local buffer = vim.fn.bufnr("^sidecar://" .. name .. "$")
  return buffer < 0 and "" or table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

function M.chat()
  return M.buffer("chat")
end

function M.holds(text, part)
  if not text:find(part, 1, true) then
    error(("%q is not in:\n%s"):format(part, text), 2)
  end
end

function M.lacks(text, part)
  if text:find(part, 1, true) then
    error(("%q is in:\n%s"):format(part, text), 2)
  end
end

function M.equal(found, wanted)
  if found ~= wanted then
    error(("found %s\nwanted %s"):format(vim.inspect(found), vim.inspect(wanted)), 2)
  end
end

function M.wait(what, fits)
  if not vim.wait(LIMIT, fits, 10) then
    local log = table.concat(require("sidecar.daemon").log, "\n")
    error(("waited for %s\nstatusline: %s\nsaid: %s\nasked: %s\nchat:\n%s\nlog:\n%s"):format(
      what,
      require("sidecar").statusline(),
      vim.inspect(M.said),
      vim.inspect(M.asked),
      M.chat(),
      log
    ), 2)
  end
end

--- The meter's per cent, as the statusline has it.
function M.percent()
  return tonumber(require("sidecar").statusline():match("(%d+)%%%%")) or -1
end

function M.wait_for_meter()
  M.wait("the meter", function()
    return M.percent() >= 0
  end)
end

function M.wait_for_chat(part)
  M.wait(part .. " in the chat", function()
    return M.chat():find(part, 1, true) ~= nil
  end)
end

--- Sends a prompt and waits until its turn has ended.
function M.turn(text)
  -- What another session showed is gone.
  require("sidecar.chat").flush()
  local _, before = M.chat():gsub("requests? · ", "")
  vim.cmd("Sidecar send " .. text)
  M.wait("the turn's end", function()
    local _, now = M.chat():gsub("requests? · ", "")
    return now > before and require("sidecar.session").running == 0
  end)
end

function M.choose(...)
  choices = { ... }
end

function M.all_chosen()
  M.wait("all questions", function()
    return #choices == 0
  end)
end

function M.waiting()
  return require("sidecar.asking").waiting()
end

function M.read(name)
  local file = assert(io.open(name, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

function M.write(name, text)
  local file = assert(io.open(name, "wb"))
  file:write(text)
  file:close()
end

function M.text(name)
  return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(name), 0, -1, false), "\n") .. "\n"
end

vim.ui.select = function(items, options, done)
  local wanted = choices[1]
  local shown = vim.tbl_map(options.format_item or tostring, items)
  table.insert(M.asked, { prompt = options.prompt, items = shown, preview = M.buffer("preview") })
  for index, text in ipairs(shown) do
    if wanted and text:find(wanted, 1, true) then
      table.remove(choices, 1)
      return done(items[index], index)
    end
  end
  error(("nothing of %s is %s, asked: %s"):format(vim.inspect(shown), vim.inspect(wanted), options.prompt))
end

vim.notify = function(text)
  table.insert(M.said, text)
end

function M.play(run)
  local ok, problem = xpcall(run, debug.traceback)
  if ok and vim.v.errmsg ~= "" then
    ok, problem = false, "an error was shown: " .. vim.v.errmsg
  end
  local log = table.concat(require("sidecar.daemon").log, "\n")
  if ok and log:find("is no field of it", 1, true) then
    ok, problem = false, "the daemon does not read all that it is told: " .. log
  end
  if not ok then
    io.stderr:write(tostring(problem), "\n")
    vim.cmd("cquit 1")
  end
  vim.cmd("qall!")
end

return M
