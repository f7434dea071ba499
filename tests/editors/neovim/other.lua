--- A second Neovim in the same folder.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

h.play(function()
  h.setup()
  h.wait_for_meter()
  h.wait("a session of its own", function()
    return not require("sidecar.session").read_only
  end)
  h.turn("read main.py")
  io.stdout:write(require("sidecar.session").id, "\n")
end)
