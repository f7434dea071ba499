--- JSON-RPC over the pipes of a process, with LSP's framing.
--- Neovim's own client is not used: it answers the daemon's questions at once, without their ids,
--- and a person who chooses in `vim.ui.select` does not. README.md says more.
local M = {}

local Pipe = {}
Pipe.__index = Pipe

local function write(pipe, message)
  message.jsonrpc = "2.0"
  local body = vim.json.encode(message)
  -- A daemon that died a moment ago is told by its exit.
  return pcall(vim.fn.chansend, pipe.job, ("Content-Length: %d\r\n\r\n%s"):format(#body, body))
end

local function dict(params)
  return params and next(params) ~= nil and params or vim.empty_dict()
end

--- Calls `done(result, error)` once: with what was answered, or when the process has ended.
function Pipe:request(method, params, done)
  self.last = self.last + 1
  self.pending[self.last] = done
  write(self, { id = self.last, method = method, params = dict(params) })
  return self.last
end

function Pipe:notify(method, params)
  write(self, { method = method, params = dict(params) })
end

function Pipe:stop()
  vim.fn.jobstop(self.job)
end

local function take(pipe, message, on_message)
  local id = message.id
  if not message.method then
    local done = pipe.pending[id]
    pipe.pending[id] = nil
    if done then
      done(message.result, message.error)
    end
  elseif id == nil then
    on_message(message.method, message.params or {})
  else
    on_message(message.method, message.params or {}, function(result, problem)
      write(pipe, { id = id, result = not problem and (result or vim.NIL) or nil, error = problem })
    end, id)
  end
end

--- Gives the messages in `data`, and what is left of it.
local function split(data)
  local found = {}
  while true do
    local _, header_end = data:find("\r\n\r\n", 1, true)
    local length = header_end and tonumber(data:sub(1, header_end):match("[Cc]ontent%-[Ll]ength: *(%d+)"))
    if not length or #data < header_end + length then
      return found, data
    end
    found[#found + 1] = data:sub(header_end + 1, header_end + length)
    data = data:sub(header_end + length + 1)
  end
end

--- Starts `cmd`. `on.message(method, params, answer, id)` gets what the process sends, `answer` and
--- `id` with requests only; `on.log(lines)` its stderr; `on.exit(code)` its end.
--- Gives the pipe, or nil and what is wrong.
function M.start(cmd, opts, on)
  local pipe = setmetatable({ last = 0, pending = {} }, Pipe)
  local rest = {}
  local ok, job = pcall(vim.fn.jobstart, cmd, {
    cwd = opts.cwd,
    env = next(opts.env) and opts.env or nil,
    on_stdout = function(_, lines)
      rest[#rest + 1] = table.concat(lines, "\n")
      local found, left = split(table.concat(rest))
      rest = { left }
      for _, body in ipairs(found) do
        take(pipe, vim.json.decode(body, { luanil = { object = true, array = true } }), on.message)
      end
    end,
    on_stderr = function(_, lines)
      on.log(lines)
    end,
    on_exit = function(_, code)
      on.exit(code)
      local pending = pipe.pending
      pipe.pending = {}
      for _, done in pairs(pending) do
        done(nil, { code = 0, message = "Sidecar's daemon ended before it answered." })
      end
    end,
  })
  if not ok or job <= 0 then
    return nil, ok and ("%s cannot be run"):format(cmd[1]) or tostring(job)
  end
  pipe.job, pipe.pid = job, vim.fn.jobpid(job)
  return pipe
end

return M
