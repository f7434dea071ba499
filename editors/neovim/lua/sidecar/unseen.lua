--- What the model no longer sees whole: looked up for the chat, and recalled into the next message.
local daemon = require("sidecar.daemon")
local session = require("sidecar.session")
local view = require("sidecar.view")

local M = {}

--- Milliseconds between two looks.
local PAUSE = 200
--- Letters of what a part is called.
local MOST = 40
--- How a part stands, in a word; any other is left out.
local WORDS = { truncated = "shortened", excerpt = "shortened", quoted = "shortened" }
local WHOLE = { verbatim = true, note = true }
--- What goes along with the next message: `session`, `part`, `label` and the `block` of it.
local recalled = {}
local looking = false

--- Looks which parts are not whole, soon, as changes come in swarms; `told(marks by part)`.
function M.look(told)
  if looking then
    return
  end
  looking = true
  vim.defer_fn(function()
    looking = false
    local id = session.id
    if not id or daemon.state ~= "ready" then
      return
    end
    -- What failed is said elsewhere; the next change asks again.
    daemon.request("context/breakdown", { sessionId = id }, function(found)
      if not found or id ~= session.id then
        return
      end
      local marks = {}
      for _, one in ipairs(found.segments) do
        if one.partId and not WHOLE[one.presentation] then
          local word = WORDS[one.presentation] or "left out"
          marks[one.partId] = one.reason and ("%s: %s"):format(word, view.line(one.reason)) or word
        end
      end
      told(marks)
    end)
  end, PAUSE)
end

--- Says in the window below the chat what goes along.
function M.along()
  local labels = {}
  for _, one in ipairs(recalled) do
    if one.session == session.id then
      labels[#labels + 1] = (one.label:gsub("%%", "%%%%"))
    end
  end
  return #labels > 0 and "+ " .. table.concat(labels, ", ") .. " " or ""
end

--- Lets a part go along whole with the next message, or no more.
function M.recall(part, label)
  label = vim.fn.strcharpart(view.line(label), 0, MOST)
  for index, one in ipairs(recalled) do
    if one.part == part then
      table.remove(recalled, index)
      vim.cmd("redrawstatus!")
      return session.say(label .. " goes along no more.")
    end
  end
  local id = session.id
  session.ask("context/recall", { partId = part }, function(found)
    local text = ("%s, as it was earlier in this conversation:\n\n%s"):format(label, found.content)
    if found.nextOffset then
      local rest = "\n[the first %d of %d bytes; recall reads on from there by the id %s]"
      text = text .. rest:format(found.nextOffset, found.totalBytes, part)
    end
    local name = label:gsub("[^%w]", function(letter)
      return ("%%%02X"):format(letter:byte())
    end)
    local block = { type = "resource", resource = { uri = ("sidecar:part/%s#%s"):format(part, name), text = text } }
    recalled[#recalled + 1] = { session = id, part = part, label = label, block = block }
    vim.cmd("redrawstatus!")
    session.say(label .. " goes along whole with your next message.")
  end)
end

--- Gives what goes along with a message that is sent now, as blocks, and what puts it back.
function M.take()
  local blocks, before = {}, recalled
  for _, one in ipairs(recalled) do
    if one.session == session.id then
      blocks[#blocks + 1] = one.block
    end
  end
  recalled = {}
  return blocks, function()
    recalled = before
  end
end

--- Gives what a part that went along is called, by its address; nil for any other.
function M.called(uri)
  local name = (uri or ""):match("^sidecar:part/[^#]*#(.*)")
  return name and name:gsub("%%(%x%x)", function(code)
    return string.char(tonumber(code, 16))
  end)
end

return M
