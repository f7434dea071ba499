--- The daemon of this Neovim: started, greeted, and started again when it dies.
local config = require("sidecar.config")
local rpc = require("sidecar.rpc")

local M = {
  --- off, starting, ready, waiting (to start again) or failed; `message` says why.
  state = "off",
  message = "",
  --- What to do with what the daemon sends: method → function(params, answer, id).
  handlers = {},
  log = {},
}

local FIRST_DELAY, LONGEST_DELAY, MOST_STARTS, SETTLED = 250, 8000, 5, 30000
local LOG_LINES = 5000
local pipe, on_ready, started
local failures = 0

local function become(state, message)
  M.state, M.message = state, message or ""
  if state == "failed" then
    vim.notify(M.message, vim.log.levels.ERROR)
  end
  vim.cmd("redrawstatus!")
end

local function keep(lines)
  local log = M.log
  -- A chunk's first piece goes on with the line before.
  log[math.max(#log, 1)] = (log[#log] or "") .. lines[1]
  vim.list_extend(log, lines, 2)
  if #log > LOG_LINES then
    M.log = vim.list_slice(log, #log - LOG_LINES / 2)
  end
end

--- Gives the program's path, from absolute folders of PATH alone: a relative one is found in the
--- folder that is open. Nil if there is none.
function M.program(name)
  if name:find("[/\\]") then
    return vim.fn.executable(name) == 1 and name or nil
  end
  local windows = vim.fn.has("win32") == 1
  for _, folder in ipairs(vim.split(vim.env.PATH or "", windows and ";" or ":", { plain = true })) do
    if folder:find(windows and "^%a:[/\\]" or "^/") then
      local found = vim.fn.exepath(folder .. "/" .. name)
      if found ~= "" then
        return found
      end
    end
  end
end

local function capabilities()
  return {
    workspace = { applyEdit = true },
    textDocument = { synchronization = { didSave = true } },
    window = { workDoneProgress = true, showMessage = vim.empty_dict() },
    experimental = { sidecar = { requestPermission = true } },
  }
end

local function received(method, params, answer, id)
  local handler = M.handlers[method]
  if handler then
    handler(params, answer or function() end, id)
  elseif answer then
    answer(nil, { code = -32601, message = "Neovim does not have " .. method })
  end
end

local launch

local function ended(mine, code)
  if mine ~= pipe then
    return
  end
  pipe = nil
  local lasted = vim.loop.now() - started
  failures = lasted > SETTLED and 1 or failures + 1
  local what = ("Sidecar's daemon ended with exit code %d"):format(code)
  if failures >= MOST_STARTS then
    become("failed", what .. " again and again. See :Sidecar log, then :Sidecar restart.")
    return
  end
  become("waiting", what)
  local delay = math.min(FIRST_DELAY * 2 ^ (failures - 1), LONGEST_DELAY)
  vim.defer_fn(function()
    if M.state == "waiting" then
      launch()
    end
  end, delay)
end

function launch()
  local cmd, root = vim.deepcopy(config.values.cmd), config.root()
  local program = M.program(cmd[1])
  if not program then
    local text = "Sidecar's daemon was not found: %q is not an executable. Install it, as "
      .. "by `uv tool install sidecard`, or set `cmd` in require('sidecar').setup{}. :checkhealth sidecar says more."
    become("failed", text:format(cmd[1]))
    return
  end
  cmd[1], config.folder = program, root
  become("starting")
  started = vim.loop.now()
  local mine, problem
  mine, problem = rpc.start(cmd, { cwd = root, env = config.values.env }, {
    message = received,
    log = keep,
    exit = function(code)
      ended(mine, code)
    end,
  })
  pipe = mine
  if not mine then
    become("failed", "Sidecar's daemon does not start: " .. problem)
    return
  end
  local uri = vim.uri_from_fname(root)
  mine:request("initialize", {
    processId = vim.fn.getpid(),
    rootUri = uri,
    workspaceFolders = { { uri = uri, name = vim.fn.fnamemodify(root, ":t") } },
    capabilities = capabilities(),
    initializationOptions = config.initialization(),
  }, function(result, err)
    if mine ~= pipe then
      return
    elseif not result then
      pipe = nil
      mine:stop()
      become("failed", "Sidecar's daemon refused to start: " .. err.message)
      return
    end
    mine:notify("initialized")
    become("ready")
    on_ready()
  end)
end

--- `run` is called each time that it is ready, after a restart too.
function M.on_ready(run)
  on_ready = run
end

--- Starts it, unless it runs.
function M.start()
  if not pipe and M.state ~= "waiting" then
    failures = 0
    launch()
  end
end

function M.restart()
  local before = pipe
  pipe = nil
  if before then
    before:stop()
  end
  failures = 0
  launch()
end

--- Ends it: it is given a moment to say goodbye.
function M.stop()
  local before = pipe
  pipe = nil
  if not before then
    return
  end
  local said = false
  before:request("shutdown", nil, function()
    said = true
  end)
  vim.wait(1000, function()
    return said
  end, 5)
  before:notify("exit")
  become("off")
end

--- Asks it something; `done(result, error)` is called once.
function M.request(method, params, done)
  if M.state ~= "ready" or not pipe then
    local why = M.message ~= "" and M.message or "Sidecar's daemon is not running yet."
    return done(nil, { code = 0, message = why })
  end
  return pipe:request(method, params, done)
end

function M.notify(method, params)
  if pipe and M.state == "ready" then
    pipe:notify(method, params)
  end
end

function M.pid()
  return pipe and pipe.pid
end

return M
