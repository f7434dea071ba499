--- Sessions on a git remote: synced, and opened from another machine.
local chat = require("sidecar.chat")
local config = require("sidecar.config")
local session = require("sidecar.session")
local view = require("sidecar.view")

local M = {}

local SEND = "Send them, from now on without asking"

local function about(remote, more)
  local named = remote ~= "" and remote or nil
  return vim.tbl_extend("force", { cwd = config.root(), remote = named }, more or {})
end

local function told(done)
  local counts = {}
  for _, what in ipairs({ "sent", "received", "forked" }) do
    if #done[what] > 0 then
      table.insert(counts, ("%d %s"):format(#done[what], what))
    end
  end
  local first = #counts > 0 and table.concat(counts, ", ") or "nothing to do"
  session.say(("%s: %s. %s"):format(first, done.remote, table.concat(done.notes, " ")))
end

--- The first time, what would go where is shown, and asked about.
local function synced(params, done)
  session.ask("session/sync", params, function(plan)
    if plan.agreed then
      return done(plan)
    end
    local titles = vim.tbl_map(function(one)
      return ("%s (%d messages, %d bytes)"):format(view.title(one), one.messages, one.size)
    end, plan.sent)
    local readers = plan.recipients > 0 and "encrypted" or "for all who can read there"
    local prompt = ("Sidecar: to %s, %s, would go: %s. Likely keys stay."):format(
      plan.remote,
      readers,
      #titles > 0 and table.concat(titles, ", ") or "nothing yet"
    )
    vim.ui.select({ "Send nothing", SEND }, { prompt = prompt, kind = "sidecar" }, function(chosen)
      if chosen == SEND then
        session.ask("session/sync", vim.tbl_extend("force", params, { agree = plan.remote }), done)
      end
    end)
  end)
end

function M.sync(remote)
  synced(about(remote), told)
end

--- Has a session of the remote chosen, which is taken in and opened.
function M.open(remote)
  session.ask("session/listRemote", about(remote), function(listed)
    if #listed.sessions == 0 then
      return session.say(("no session lies on %s."):format(listed.remote))
    end
    local function line(one)
      local at = one.updatedAt:sub(1, 16):gsub("T", " ")
      local here = one.sessionId and "  (here)" or ""
      return ("%s  %s  · %d turns  %s%s"):format(at, view.title(one), one.turns, view.line(one.folder), here)
    end
    local options = { prompt = "Sidecar: sessions on " .. listed.remote, kind = "sidecar", format_item = line }
    vim.ui.select(listed.sessions, options, function(one)
      if not one then
        return
      elseif one.sessionId then
        return session.open(one.sessionId, chat.open)
      end
      synced(about(remote, { open = { one.name } }), function(done)
        told(done)
        for _, came in ipairs(done.received) do
          if came.name == one.name then
            session.open(came.sessionId, chat.open)
          end
        end
      end)
    end)
  end)
end

return M
