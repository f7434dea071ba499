--- Sidecar for Neovim: the daemon owns the session, this shows it. See |sidecar|.
local asking = require("sidecar.asking")
local chat = require("sidecar.chat")
local config = require("sidecar.config")
local daemon = require("sidecar.daemon")
local documents = require("sidecar.documents")
local meter = require("sidecar.meter")
local session = require("sidecar.session")

local M = {
  --- For 'statusline', coloured: `%{%v:lua.require'sidecar'.statusline()%}`
  statusline = meter.statusline,
  --- For plugins that colour it themselves: the text, and the highlight group of its zone.
  text = function()
    return (meter.text():gsub("%%", "%%%%"))
  end,
  highlight = meter.highlight,
  --- The foreground of that group, as #rrggbb.
  colour = meter.colour,
}
--- For heirline, as a component.
M.heirline = {
  provider = M.text,
  hl = function()
    return { fg = M.colour(), bold = true }
  end,
}

local done = false

function M.setup(given)
  config.set(given)
  if not done then
    done = true
    meter.colours()
    documents.setup()
    asking.setup()
    daemon.on_ready(session.resume)
    session.on_change = chat.clear
    chat.clear()
    local group = vim.api.nvim_create_augroup("sidecar", {})
    vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = meter.colours })
    vim.api.nvim_create_autocmd("InsertLeave", { group = group, callback = vim.schedule_wrap(chat.refold) })
    vim.api.nvim_create_autocmd("VimLeavePre", { group = group, callback = daemon.stop })
  end
  -- Later, so that what this Neovim was started with is open.
  vim.schedule(function()
    if config.values.autostart then
      daemon.start()
    end
  end)
end

--- `:Sidecar`; also where setup was never called.
function M.command(given)
  if not done then
    M.setup({ autostart = false })
  end
  require("sidecar.commands").run(given)
end

return M
