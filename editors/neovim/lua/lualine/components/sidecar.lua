--- The meter for lualine: `lualine_x = { "sidecar" }`.
local sidecar = require("sidecar")
local M = require("lualine.component"):extend()

function M:init(options)
  -- The section's ground stays.
  options.color = options.color or function()
    return { fg = sidecar.colour(), gui = "bold" }
  end
  M.super.init(self, options)
end

M.update_status = sidecar.text

return M
