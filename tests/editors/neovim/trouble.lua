--- A daemon that is not there, one that dies at once, and the key that one is given.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")
local daemon = require("sidecar.daemon")

local function starts(cmd)
  daemon.state = "off"
  h.setup(cmd)
  h.wait("an end of trying", function()
    return daemon.state == "failed"
  end)
  return daemon.message
end

h.play(function()
  h.holds(starts({ cmd = { "no-such-sidecar" } }), '"no-such-sidecar" is not an executable. Install it')
  h.holds(require("sidecar").statusline(), "stopped")
  h.equal(#h.said, 1)
  h.holds(starts({ cmd = { "sh", "-c", "echo broken >&2; exit 3" } }), "exit code 3 again and again")
  vim.cmd("Sidecar log")
  local _, times = h.buffer("log"):gsub("broken", "")
  h.equal(times, 5)
  vim.env.MY_KEY = nil
  for _, key in ipairs({
    "MY_KEY",
    function()
      return "sk-function"
    end,
  }) do
    vim.env.MY_KEY = "sk-variable"
    local seen = { "sh", "-c", "dd bs=65536 count=1 of=initialize.txt 2>/dev/null; exit 1" }
    daemon.state = "off"
    h.setup({ cmd = seen, api_key = key, options = { provider = { baseUrl = "http://127.0.0.1:9" } } })
    local wanted = type(key) == "string" and "sk-variable" or "sk-function"
    h.wait("the key", function()
      local file = io.open("initialize.txt")
      local text = file and file:read("*a") or ""
      return text:find(wanted, 1, true) and text:find("baseUrl", 1, true)
    end)
  end
end)
