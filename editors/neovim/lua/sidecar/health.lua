--- `:checkhealth sidecar`
local config = require("sidecar.config")
local daemon = require("sidecar.daemon")

local M = {}

-- Neovim 0.7 has other names for these.
local health = vim.health or require("health")
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local info = health.info or health.report_info
local warn = health.warn or health.report_warn
local bad = health.error or health.report_error

local function check_key()
  local key = config.values.api_key
  if not key then
    info("No `api_key` is set: ANTHROPIC_API_KEY counts if there is one, else the model is offline.")
  elseif (config.initialization().provider or {}).apiKey then
    ok("`api_key` gives a key; it goes to the daemon in `initialize`.")
  else
    warn("`api_key` gives nothing.", { "Set the environment variable, or fix the function." })
  end
end

local function check_daemon()
  local cmd = config.values.cmd
  local path = daemon.program(cmd[1])
  if not path then
    bad(("%q is not an executable."):format(cmd[1]), {
      "Install it, as by `uv tool install sidecard`, so that `sidecar` is on PATH, or",
      'set it: require("sidecar").setup{ cmd = { "/path/to/sidecar", "serve", "--stdio" } }',
    })
    return
  end
  ok(("The daemon is %s"):format(path))
  if daemon.state ~= "ready" then
    local advice = { ":Sidecar restart starts it.", ":Sidecar log says more." }
    warn(("It is %s. %s"):format(daemon.state, daemon.message), advice)
    return
  end
  local status
  daemon.request("daemon/status", {}, function(result, err)
    status = result or err
  end)
  vim.wait(3000, function()
    return status ~= nil
  end, 20)
  if not (status and status.version) then
    bad("It does not answer.", { ":Sidecar restart", ":Sidecar log says more." })
    return
  end
  ok(("It runs: version %s, process %d, %d open sessions."):format(status.version, status.pid, #status.sessions))
  for _, alert in ipairs(status.alerts) do
    warn(alert.message or vim.inspect(alert))
  end
end

function M.check()
  start("sidecar")
  if vim.fn.has("nvim-0.7") == 1 then
    ok("Neovim is new enough.")
  else
    bad("Neovim is too old.", { "Install 0.7 or newer." })
  end
  info("It works in " .. config.root())
  check_key()
  check_daemon()
end

return M
