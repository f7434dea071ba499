--- The session of this Neovim: opened, remembered for its folder, and opened again after a restart.
local config = require("sidecar.config")
local daemon = require("sidecar.daemon")
local documents = require("sidecar.documents")

local M = {
  id = nil,
  title = "",
  meter = nil,
  --- The session's options, as the daemon gives them.
  options = {},
  --- Prompts that have no answer yet.
  running = 0,
  --- Another window writes this session.
  read_only = false,
}

--- What is to be run once a session is open.
local waiting
local UNKNOWN_SESSION = -32010
--- Called with nothing before the history is replayed: what is shown of another session goes.
M.on_change = function() end

local function memory()
  return ("%s/sidecar/%s"):format(vim.fn.stdpath("data"), vim.fn.sha256(config.root()))
end

function M.say(text, level)
  vim.notify("Sidecar: " .. text, level or vim.log.levels.INFO)
end

local function failed(err)
  M.say(err.message, vim.log.levels.ERROR)
end

local function request(method, params, done)
  documents.flush()
  -- What names a folder is not about a session.
  daemon.request(method, params.cwd and params or vim.tbl_extend("keep", params, { sessionId = M.id }), done)
end

--- Asks about this session: `done(result)`, or the error is shown.
function M.ask(method, params, done)
  request(method, params, function(result, err)
    if err then
      failed(err)
    else
      done(result)
    end
  end)
end

local function became(result)
  M.read_only, M.options = result.readOnly or false, result.configOptions or {}
  vim.fn.mkdir(vim.fn.fnamemodify(memory(), ":h"), "p")
  vim.fn.writefile({ M.id }, memory())
  if M.read_only then
    M.say("another window writes this session; here it can only be read. :Sidecar new begins another.")
  end
  M.ask("context/meter", {}, M.metered)
  -- A history does not say how its session is called. One that is renamed meanwhile is called so.
  local before = M.title
  M.ask("session/list", { cwd = config.root() }, function(listed)
    for _, one in ipairs(listed.sessions) do
      M.title = M.title == before and one.sessionId == M.id and one.title or M.title
    end
    vim.cmd("redrawstatus!")
  end)
  local run = waiting
  waiting = nil
  if run then
    run()
  end
end

--- Runs something once a session is open: now, or when the daemon has opened one.
function M.when_open(run)
  if M.id and daemon.state == "ready" then
    return run()
  elseif daemon.state == "off" then
    daemon.start()
  end
  waiting = run
  if daemon.state == "failed" then
    M.say(daemon.message, vim.log.levels.ERROR)
  end
end

--- Lets another window write a session, unless a turn runs.
local function let_go(id)
  if id and M.running == 0 then
    daemon.request("session/close", { sessionId = id }, function() end)
  end
end

local function clear(id)
  if id ~= M.id then
    let_go(M.id)
    M.title = ""
  end
  M.id = id
  M.on_change()
end

--- Opens a stored session; its history comes as updates. `done(error)`, unless another is opened meanwhile.
function M.open(id, done)
  clear(id)
  daemon.request("session/load", { sessionId = id, cwd = config.root(), replay = true }, function(result, err)
    if id ~= M.id then
      -- It was closed before it was there, and is open now.
      return result and let_go(id)
    elseif result then
      became(result)
    end
    if done then
      done(err)
    elseif err then
      failed(err)
    end
  end)
end

function M.create(params, done)
  params = vim.tbl_extend("force", params or {}, { cwd = config.root() })
  M.ask("session/new", params, function(result)
    clear(result.sessionId)
    became(result)
    if done then
      done()
    end
  end)
end

--- When the daemon is ready: the session that was open, else the folder's last, else a new one.
function M.resume()
  documents.open_all()
  M.running = 0
  local ours, file = M.id, memory()
  local last = ours or (config.values.resume and vim.fn.filereadable(file) == 1 and vim.fn.readfile(file)[1]) or nil
  if not last then
    return M.create()
  end
  M.open(last, function(err)
    if err and err.code ~= UNKNOWN_SESSION then
      failed(err)
    elseif err or (M.read_only and not ours) then
      -- Another Neovim in this folder has it: this one begins its own.
      M.create()
    end
  end)
end

function M.metered(meter)
  if meter.sessionId == M.id then
    M.meter = meter
    vim.cmd("redrawstatus!")
  end
end

local function diagnostics()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(nil, { severity = { min = vim.diagnostic.severity.WARN } })) do
    local path = vim.api.nvim_buf_is_valid(one.bufnr) and vim.api.nvim_buf_get_name(one.bufnr) or ""
    if path ~= "" then
      found[#found + 1] = { path = path, line = one.lnum + 1, severity = one.severity, message = one.message }
    end
  end
  return found
end

--- Sends blocks of a prompt; while a turn runs they steer that. `done(result, error)`: an error means that
--- no turn began.
function M.prompt(blocks, selection, done)
  documents.check_disk()
  local shown = config.values.context
  local context = { selection = selection }
  context.openFiles = shown.open_files and documents.shown() or nil
  context.diagnostics = shown.diagnostics and diagnostics() or nil
  local params = { prompt = blocks, steer = M.running > 0 or nil }
  params.context = next(context) and context or nil
  M.running = M.running + 1
  request("session/prompt", params, function(result, err)
    M.running = math.max(M.running - 1, 0)
    documents.check_disk()
    if result then
      M.metered(result.meter)
    end
    done(result, err)
  end)
  vim.cmd("redrawstatus!")
end

function M.cancel()
  if M.id then
    daemon.notify("session/cancel", { sessionId = M.id })
  end
end

return M
