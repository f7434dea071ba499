--- `:checkhealth sidecar` and `:help sidecar`.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

local function health()
  vim.cmd("checkhealth sidecar")
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  vim.cmd("bwipeout!")
  return text
end

h.play(function()
  h.setup({ autostart = false, cmd = { "no-such-sidecar" } })
  h.holds(health(), '"no-such-sidecar" is not an executable')
  h.setup()
  h.wait_for_meter()
  local text = health()
  h.holds(text, "It runs: version")
  h.holds(text, "It works in " .. vim.fn.getcwd())
  h.lacks(text, "ERROR")
  for _, tag in ipairs({ "sidecar", "sidecar-config", ":Sidecar", "sidecar-statusline", "sidecar-chat", "sidecar-maps" }) do
    vim.cmd("help " .. tag)
    h.equal(vim.fn.expand("%:t"), "sidecar.txt")
    vim.cmd("close")
  end
end)
