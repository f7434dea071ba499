--- `:Sidecar`; everything else is loaded by it, or by require("sidecar").setup{}.
if vim.g.loaded_sidecar then
  return
end
vim.g.loaded_sidecar = true

if vim.fn.has("nvim-0.7") == 0 then
  vim.notify("Sidecar needs Neovim 0.7 or newer.", vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command("Sidecar", function(given)
  require("sidecar").command(given)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Sidecar: new, send, cancel, compact, rollback and so on",
  complete = function(...)
    return require("sidecar.commands").complete(...)
  end,
})

-- `<Plug>(sidecar-chat)` and so on, to be mapped by the user.
local commands = "chat new send cancel compact undo_compaction rollback redo review edit copy recall"
commands = commands .. " context fork handoff sessions search rename archive export sync elsewhere log restart"
for name in commands:gmatch("%S+") do
  local keys, what = "<Plug>(sidecar-" .. name .. ")", { desc = "Sidecar: " .. name }
  vim.keymap.set({ "n", "i" }, keys, "<Cmd>Sidecar " .. name .. "<CR>", what)
  -- The selected lines go along.
  vim.keymap.set("x", keys, ":Sidecar " .. name .. "<CR>", what)
end
