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
