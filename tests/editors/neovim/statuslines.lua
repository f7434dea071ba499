--- The meter in lualine and heirline. Neither is here: what stands for them does what they do with a
--- component, in that order (lualine's component.lua and highlight.lua, heirline's statusline.lua).
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")
local GROUND = "#223344"

--- lualine's class of components: options come to `init`, `draw` asks for the status, pads it, and
--- colours it by `color`, of which what is missing is the section's.
local Component = {}

function Component:extend()
  local class = { super = self }
  return setmetatable(class, {
    __index = self,
    __call = function(_, options)
      local made = setmetatable({}, { __index = class })
      made:init(options)
      return made
    end,
  })
end

function Component:init(options)
  self.options = options
end

function Component:draw()
  local status = self:update_status(true)
  if type(status) ~= "string" or #status == 0 then
    return ""
  end
  local color = self.options.color
  if type(color) == "function" then
    color = color({ section = self.options.self.section })
  end
  local name = "lualine_" .. self.options.component_name
  vim.api.nvim_set_hl(0, name, { fg = color.fg, bg = color.bg or GROUND, bold = color.gui == "bold" })
  return ("%%#%s# %s "):format(name, status)
end

package.preload["lualine.component"] = function()
  return Component
end

--- heirline's evaluation of a component: its `hl` over its parent's, then what it provides.
local function heirline(component)
  local hl = vim.tbl_extend("force", { bg = GROUND }, component:hl() or {})
  vim.api.nvim_set_hl(0, "Heirline", hl)
  return "%#Heirline#" .. component:provider() .. "%*"
end

local function seen(line)
  vim.o.statusline = line
  local drawn = vim.api.nvim_eval_statusline(line, { highlights = true })
  local group = vim.api.nvim_get_hl_by_name(drawn.highlights[1].group, true)
  return vim.trim(drawn.str), ("#%06x"):format(group.foreground or 0), ("#%06x"):format(group.background), group.bold
end

h.play(function()
  local component = require("lualine.components.sidecar")({ component_name = "sidecar", self = { section = "x" } })
  h.equal((seen(component:draw())), "sidecar off")
  h.setup()
  h.wait_for_meter()
  local text = require("sidecar.meter").text()
  local wanted = vim.inspect({ text, "#73b06f", GROUND, true })
  h.equal(vim.inspect({ seen(component:draw()) }), wanted)
  h.equal(vim.inspect({ seen(heirline(require("sidecar").heirline)) }), wanted)
  local own = require("lualine.components.sidecar")({
    component_name = "own",
    self = { section = "x" },
    color = { fg = "#ffffff", bg = "#000000" },
  })
  h.equal(select(2, seen(own:draw())), "#ffffff")
  -- What the session cost; the offline model costs nothing.
  require("sidecar.session").meter.cost.session = "0.31"
  h.equal((seen(component:draw())), text .. " · $0.31")
end)
