--- Nothing is set up: the first command starts the daemon, and is done when there is a session.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

h.play(function()
  local server = { command = vim.env.SIDECAR_PYTHON, args = { vim.env.SIDECAR_SCENARIO .. "/../../fakes/mcp_server.py" } }
  local options = { model = "offline", window = 60000, mcpServers = { notes = server } }
  h.setup({ autostart = false, options = options })
  vim.wait(100)
  h.equal(require("sidecar.daemon").state, "off")
  h.equal(require("sidecar").statusline(), "sidecar off")
  vim.cmd("edit main.py")
  vim.cmd("2Sidecar send read notes.txt")
  h.wait_for_chat("── 2 requests")
  vim.cmd("Sidecar context")
  h.wait("what the model saw", function()
    return h.buffer("context"):find("── turn", 1, true)
  end)
  h.holds(h.buffer("context"), "\n  of notes ")
  -- Another one in this folder joins the session; one with a daemon of its own finds the session
  -- taken, and begins another.
  local other = vim.fn.system({ vim.v.progpath, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", vim.env.SIDECAR_SCENARIO .. "/other.lua" })
  h.equal(vim.v.shell_error, 0)
  h.holds(other, "ses_")
  local check = vim.env.CI == "false" and h.holds or h.lacks
  check(other, require("sidecar.session").id)
end)
