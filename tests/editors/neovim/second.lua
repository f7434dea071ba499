--- A user's day, second part: Neovim is started again, and the session is there.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

h.play(function()
  h.setup()
  h.wait_for_meter()
  h.wait_for_chat("❯ replace `delta`")
  h.wait("the session's title", function()
    return require("sidecar.chat").winline():find("read main.py", 1, true)
  end)
  h.turn("read main.py")
  io.stdout:write("session ", require("sidecar.session").id, "\n")
end)
