--- Words in the texts of the folder's sessions.
local chat = require("sidecar.chat")
local config = require("sidecar.config")
local session = require("sidecar.session")
local view = require("sidecar.view")

local M = {}

--- Matches that are looked for before one is to be chosen.
local ENOUGH = 50

local function line(item)
  if not item.hit then
    return "Search older sessions"
  end
  local about, hit = item.session, item.hit
  local text = hit.speaker == "title" and "" or ("  %s: %s%s%s"):format(hit.speaker, hit.before, hit.match, hit.after)
  return about.updatedAt:sub(1, 16):gsub("T", " ") .. "  " .. view.title(about) .. view.line(text)
end

local function open(item)
  session.open(item.session.sessionId, function(err)
    if err then
      return session.say(err.message, vim.log.levels.ERROR)
    end
    chat.open()
    if item.hit.partId then
      chat.go_to(item.hit.partId)
    end
  end)
end

--- Reads page by page, then has a match chosen, whose session is opened there.
function M.find(query, cursor, found)
  found = found or {}
  -- Sessions of other folders are opened in theirs, which have rules and settings of their own.
  local asked = { query = query, cursor = cursor, cwd = config.root() }
  session.ask("session/search", asked, function(page)
    for _, one in ipairs(page.sessions) do
      for _, hit in ipairs(one.hits) do
        table.insert(found, { session = one.session, hit = hit })
      end
    end
    if page.nextCursor and #found < ENOUGH then
      return M.find(query, page.nextCursor, found)
    elseif page.nextCursor then
      table.insert(found, {})
    elseif #found == 0 then
      return session.say(("no session has “%s” in one of its texts."):format(query))
    end
    local options = { prompt = ("Sidecar: “%s”"):format(query), kind = "sidecar", format_item = line }
    vim.ui.select(found, options, function(item)
      if item and item.hit then
        open(item)
      elseif item then
        M.find(query, page.nextCursor)
      end
    end)
  end)
end

return M
