--- The context meter for a statusline.
local daemon = require("sidecar.daemon")
local session = require("sidecar.session")

local M = {
  --- What goes on beside the turn (a compaction, a retry): shown behind the meter.
  doing = nil,
}

--- Tokens of work under way, to be cancelled.
local works = {}

local ZONES = {
  green = { "SidecarGreen", "#73b06f", 71 },
  yellow = { "SidecarYellow", "#d7af5f", 179 },
  orange = { "SidecarOrange", "#e08840", 172 },
  red = { "SidecarRed", "#e0566b", 167 },
}

local function group(zone)
  return (ZONES[zone] or { "StatusLine" })[1]
end

--- 1234 → 1.2k, 84000 → 84k.
function M.count(tokens)
  if tokens < 1000 then
    return tostring(tokens)
  elseif tokens < 9950 then
    return ("%.1fk"):format(tokens / 1000)
  elseif tokens < 999500 then
    return ("%.0fk"):format(tokens / 1000)
  end
  return ("%.1fM"):format(tokens / 1e6)
end

--- What a prompt may fill; the rest of the window is kept for the answer.
function M.room(meter)
  return meter.window - meter.reservedOutput
end

--- USD as a person reads it; unknown is nothing, and so is what costs nothing.
function M.money(amount)
  local number = tonumber(amount)
  if not number or number == 0 then
    return nil
  end
  return ("$" .. (number < 0.1 and "%.4f" or "%.2f")):format(number)
end

local STATES = {
  starting = "starting…",
  waiting = "starting again…",
  failed = "stopped, see :Sidecar log",
  off = "off",
}

--- The meter as plain text, and the zone that it is in.
function M.text()
  local meter = session.meter
  if daemon.state ~= "ready" or not meter then
    return "sidecar " .. (STATES[daemon.state] or "opening…"), nil
  end
  local about = meter.accuracy == "exact" and "" or "~"
  local share = ("%s%d%%"):format(about, meter.percent + 0.5)
  local parts = { ("%s · %s/%s"):format(share, M.count(meter.used), M.count(M.room(meter))) }
  parts[#parts + 1] = M.money(meter.cost.session)
  if meter.regions.assistant > 0 and not meter.cache.warm then
    parts[#parts + 1] = "cold"
  end
  if session.read_only then
    parts[#parts + 1] = "read-only"
  end
  parts[#parts + 1] = M.doing or (session.running > 0 and "working…" or nil)
  return table.concat(parts, " · "), meter.zone
end

--- For 'statusline': coloured by zone, its per cent signs escaped.
function M.statusline()
  local text, zone = M.text()
  text = text:gsub("%%", "%%%%")
  return zone and ("%%#%s#%s%%*"):format(group(zone), text) or text
end

--- For plugins that colour a component themselves: the highlight group of the zone.
function M.highlight()
  return group(session.meter and session.meter.zone)
end

function M.colour()
  local found = vim.api.nvim_get_hl_by_name(M.highlight(), true).foreground
  return found and ("#%06x"):format(found)
end

--- Work under way, as `$/progress` tells it.
function M.progress(params)
  local value = params.value
  if value.kind == "end" then
    works[params.token] = nil
    M.doing = nil
  else
    works[params.token] = value.title or works[params.token] or ""
    local done = value.percentage and ("%d%%"):format(value.percentage) or nil
    M.doing = vim.trim(table.concat({ works[params.token], value.message or "", done or "" }, " "))
  end
  vim.cmd("redrawstatus!")
end

--- Stops compactions and whatever else is under way beside the turn.
function M.cancel_work()
  for token in pairs(works) do
    daemon.notify("window/workDoneProgress/cancel", { token = token })
  end
end

--- A bar of `width` cells.
function M.bar(share, width)
  local full = math.min(math.max(math.floor(share * width + 0.5), 0), width)
  return ("█"):rep(full) .. ("░"):rep(width - full)
end

--- Colours on the statusline's own ground; called again with each colour scheme.
function M.colours()
  local line = vim.api.nvim_get_hl_by_name("StatusLine", true)
  local ground = line.reverse and line.foreground or line.background
  for _, zone in pairs(ZONES) do
    local name, colour, number = unpack(zone)
    vim.api.nvim_set_hl(0, name, { fg = colour, bg = ground, ctermfg = number, bold = true, default = true })
  end
  for name, link in pairs({
    SidecarUser = "Title",
    SidecarTool = "Directory",
    SidecarDone = "SidecarOk",
    SidecarWaiting = "WarningMsg",
    SidecarFailed = "ErrorMsg",
    SidecarQuiet = "Comment",
    SidecarUnseen = "Comment",
    SidecarNotice = "WarningMsg",
    SidecarAdded = "diffAdded",
    SidecarRemoved = "diffRemoved",
  }) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
  vim.api.nvim_set_hl(0, "SidecarOk", { fg = ZONES.green[2], ctermfg = ZONES.green[3], default = true })
end

return M
