--- How Neovim is set up where a screen is read.
vim.opt.runtimepath:prepend(vim.env.SIDECAR_PLUGIN)
vim.cmd("runtime plugin/sidecar.lua")
vim.o.shortmess = vim.o.shortmess .. "I"
vim.o.laststatus = 2
vim.o.statusline = "%f %= %{%v:lua.require'sidecar'.statusline()%}"
require("sidecar").setup({
  cmd = { vim.env.SIDECAR_PYTHON, "-m", "sidecar", "serve", "--stdio" },
  options = { model = "offline", window = 60000, workspaceTrusted = true },
})
