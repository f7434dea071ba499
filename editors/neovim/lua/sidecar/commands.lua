--- `:Sidecar …`
local chat = require("sidecar.chat")
local daemon = require("sidecar.daemon")
local meter = require("sidecar.meter")
local remotes = require("sidecar.remotes")
local review = require("sidecar.review")
local rollback = require("sidecar.rollback")
local search = require("sidecar.search")
local session = require("sidecar.session")
local view = require("sidecar.view")

local M = { commands = {} }
local commands = M.commands

commands.chat = chat.write

function commands.new(text)
  session.create(text ~= "" and { title = text } or {}, chat.write)
end

local function selection_of(given)
  if given.range == 0 then
    return nil
  end
  local lines = vim.api.nvim_buf_get_lines(0, given.line1 - 1, given.line2, false)
  return {
    path = vim.api.nvim_buf_get_name(0),
    range = { start = { line = given.line1 - 1, character = 0 }, ["end"] = { line = given.line2, character = 0 } },
    text = table.concat(lines, "\n"),
  }
end

function commands.send(text, given)
  local selection = selection_of(given)
  if text ~= "" or not selection or vim.trim(chat.typed()) ~= "" then
    return chat.send(text ~= "" and text or nil, selection, given.bang)
  end
  vim.ui.input({ prompt = "Sidecar, about these lines: " }, function(said)
    if said and vim.trim(said) ~= "" then
      chat.send(said, selection)
    end
  end)
end

function commands.cancel()
  session.cancel()
  meter.cancel_work()
end

--- Shows the plan first; with `!` it is carried out at once.
function commands.compact(text, given)
  local params = { instructions = text ~= "" and text or nil }
  local function apply()
    params.workDoneToken = "sidecar-compact"
    session.ask("context/compact", params, function(_) end)
  end
  if given.bang then
    return apply()
  end
  session.ask("context/compact", vim.tbl_extend("keep", { dryRun = true }, params), function(plan)
    if #plan.plan == 0 then
      return vim.notify("Sidecar: " .. plan.reason)
    end
    local close = view.preview(view.plan(plan))
    local prompt = ("Sidecar: %s → %s tokens"):format(meter.count(plan.tokensBefore), meter.count(plan.tokensAfter))
    vim.ui.select({ "Compact now", "Leave it" }, { prompt = prompt, kind = "sidecar" }, function(_, index)
      close()
      if index == 1 then
        apply()
      end
    end)
  end)
end

--- Takes the compaction back whose line the cursor is on in the chat, else the newest.
function commands.undo_compaction()
  session.ask("context/undoCompaction", { compactionId = chat.compaction_here() }, function(result)
    session.metered(result.meter)
  end)
end

commands.rollback = rollback.back
commands.redo = rollback.redo
commands.edit = rollback.edit
commands.copy = chat.copy
commands.recall = chat.recall

function commands.review()
  review.open((chat.message_here()))
end

commands.context = view.context

function commands.fork()
  session.ask("session/fork", {}, function(result)
    session.open(result.sessionId, chat.open)
  end)
end

local function given_or_asked(text, options, done)
  if text ~= "" then
    return done(text)
  end
  vim.ui.input(options, function(said)
    if said and vim.trim(said) ~= "" then
      done(said)
    end
  end)
end

function commands.handoff(text)
  given_or_asked(text, { prompt = "Sidecar: what is the next session for? " }, function(goal)
    local from = session.id
    session.ask("session/handoff", { goal = goal }, function(result)
      session.create({ from = from }, function()
        chat.open()
        chat.set_input(result.draft)
      end)
    end)
  end)
end

--- Writes the session to a file; keys that are found in it stay out of it.
function commands.export(text)
  local options = { prompt = "Sidecar, export to: ", default = session.id .. ".sidecar", completion = "file" }
  given_or_asked(text, options, function(path)
    session.ask("session/export", { path = vim.fn.fnamemodify(path, ":p") }, function(result)
      session.say(("exported to %s. %s"):format(result.path, table.concat(result.notes, " ")))
    end)
  end)
end

--- Puts the session away into a file of the daemon's, and begins another.
function commands.archive()
  session.ask("session/archive", {}, function(result)
    session.say(("archived; `sidecar import %s` brings it back"):format(result.sessions[#result.sessions].path))
    session.create({}, chat.open)
  end)
end

--- Opens another session of this folder.
function commands.sessions()
  view.sessions(function(id)
    session.open(id, chat.open)
  end)
end

function commands.rename(text)
  given_or_asked(text, { prompt = "Sidecar: title: ", default = view.line(session.title) }, function(title)
    session.ask("session/rename", { title = title }, function(result)
      session.title = result.title
      vim.cmd("redrawstatus!")
    end)
  end)
end

--- Finds words in the texts of all sessions.
function commands.search(text)
  given_or_asked(text, { prompt = "Sidecar, search all sessions: " }, search.find)
end

--- `:Sidecar sync [REMOTE]`
commands.sync = remotes.sync

--- Opens a session that lies on a git remote.
commands.elsewhere = remotes.open

--- Lets a value of an option be chosen.
local function choose(option, set)
  vim.ui.select(option.options, {
    prompt = ("Sidecar: %s (now %s)"):format(option.name, option.currentValue),
    format_item = function(one)
      return one.description and ("%s  %s"):format(one.name, one.description) or one.name
    end,
  }, function(chosen)
    if chosen then
      set(chosen.value)
    end
  end)
end

--- `:Sidecar set model claude-…`: any option that the daemon offers; without a value they are listed.
function commands.set(text)
  local name, value = text:match("^(%S+)%s*(%S*)$")
  for _, option in ipairs(session.options) do
    if option.id == name then
      local function set(to)
        session.ask("session/set_config_option", { configId = name, value = to }, function(result)
          session.options = result.configOptions
        end)
      end
      return value == "" and choose(option, set) or value ~= "" and set(value)
    end
  end
  session.say("say :Sidecar set OPTION VALUE; <Tab> completes both.")
end

function commands.log()
  view.log(daemon.log)
end

commands.restart = daemon.restart

--- These need no session.
local ANYTIME = { [commands.log] = true, [commands.restart] = true }

local function values_of(option)
  if option.type == "boolean" then
    return { "on", "off" }
  end
  return vim.tbl_map(function(one)
    return one.value
  end, option.options or {})
end

local function candidates(words)
  if #words == 1 then
    return vim.tbl_keys(commands)
  elseif words[1] ~= "set" then
    return {}
  elseif #words == 2 then
    return vim.tbl_map(function(option)
      return option.id
    end, session.options)
  end
  for _, option in ipairs(session.options) do
    if option.id == words[2] then
      return values_of(option)
    end
  end
  return {}
end

function M.complete(lead, line)
  local words = vim.split(line:gsub("^.-Sidecar!?%s+", ""), "%s+")
  local found = vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, candidates(words))
  table.sort(found)
  return found
end

function M.run(given)
  local name, rest = given.args:match("^(%S*)%s*(.-)$")
  local command = commands[name == "" and "chat" or name]
  if not command then
    return session.say(("there is no :Sidecar %s; <Tab> completes what there is."):format(name), vim.log.levels.ERROR)
  end
  if ANYTIME[command] then
    return command(rest, given)
  end
  session.when_open(function()
    command(rest, given)
  end)
end

return M
