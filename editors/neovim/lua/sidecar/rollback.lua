--- Going back and forth: pick a turn, see what would happen, choose what wins, do it.
local chat = require("sidecar.chat")
local documents = require("sidecar.documents")
local session = require("sidecar.session")
local view = require("sidecar.view")

local M = {}

local SCOPES = {
  { "both", "files and conversation" },
  { "files", "files only" },
  { "conversation", "conversation only" },
  { "file", "one file" },
}
local CHOICES = {
  { "merge", "Merge: undo the agent's part beside what was changed since" },
  { "markers", "Merge, and mark what clashes with conflict markers" },
  { "keep", "Keep what was changed since; undo the rest" },
  { "overwrite", "Overwrite what was changed since" },
}
local SIGNS = { restored = "✓", merged = "⇄", skipped = "-", conflicts = "!" }
local AUTHORS = { tool = "agent", shell = "agent's shell", user = "you", restore = "a restore" }
AUTHORS.unknown = "agent's shell or you"

--- The prompt that going back put into the input.
local prompt_back

local function second(item)
  return item[2]
end

local function files_of(checkpoint)
  local names = {}
  for _, file in ipairs(checkpoint.files) do
    names[#names + 1] = ("%s (%s)"):format(file.path, AUTHORS[file.author] or file.author)
  end
  return #names > 0 and "  · " .. table.concat(names, ", ") or ""
end

--- One line for each turn and, below it, for each of its steps that changed files; newest first.
local function items_of(checkpoints)
  local items, turns, seen = {}, {}, {}
  for _, one in ipairs(checkpoints) do
    if not one.left then
      if not seen[one.turnId] then
        seen[one.turnId] = true
        table.insert(turns, 1, { { one, ("Before “%s”%s"):format(view.line(one.title), files_of(one)), true } })
      else
        table.insert(turns[1], { one, ("    %s%s"):format(view.line(one.title), files_of(one)) })
      end
    end
  end
  for _, turn in ipairs(turns) do
    vim.list_extend(items, turn)
  end
  return items
end

local function section(lines, text, diff)
  lines[#lines + 1] = "# " .. text
  vim.list_extend(lines, vim.split(vim.trim(diff or "(not known)"), "\n", { plain = true }))
end

--- What a dry run says would happen, as a diff to read.
local function drawn(title, files)
  local lines = { "# " .. title, "" }
  for _, fate in ipairs({ "conflicts", "merged", "restored", "skipped" }) do
    for _, file in ipairs(files[fate]) do
      lines[#lines + 1] = ("# %s %-9s %s  %s"):format(SIGNS[fate], fate, file.path, file.reason)
      if fate == "conflicts" then
        if file.agentDiff or not file.unknownDiff then
          section(lines, "what the agent did, and what would be undone:", file.agentDiff)
          section(lines, "what was done since:", file.userDiff)
        end
        if file.unknownDiff then
          section(lines, "what the agent's command did, or you, which nobody can tell:", file.unknownDiff)
        end
      elseif file.diff then
        section(lines, "what would be done:", file.diff)
      end
      lines[#lines + 1] = ""
    end
  end
  return lines
end

local function told(files)
  local counts = {}
  for _, fate in ipairs({ "restored", "merged", "skipped", "conflicts" }) do
    if #files[fate] > 0 then
      counts[#counts + 1] = ("%d %s"):format(#files[fate], fate)
    end
  end
  return #counts > 0 and table.concat(counts, ", ") or "no files"
end

local function carried_out(result, what)
  documents.check_disk()
  session.open(session.id, function()
    chat.note(("── %s: %s ──"):format(what, told(result.files)))
    for _, note in ipairs(result.notes or {}) do
      chat.note(note)
    end
    if result.restoredPrompt then
      prompt_back = result.restoredPrompt
      chat.set_input(prompt_back)
      chat.open()
    elseif chat.typed() == prompt_back then
      -- It stands in the conversation again.
      chat.set_input("")
    end
  end)
end

local function with_choice(params, choice)
  local given = vim.deepcopy(params)
  given.onConflict = choice == "markers" and "merge" or choice
  given.markers = choice == "markers" or nil
  return given
end

--- Shows the dry run for a choice and asks: do it, choose otherwise, or leave it. `move.after(result)`
--- is called in place of showing the session anew.
local function consider(move, choice)
  -- A buffer that has not noticed its file's change would count as unsaved.
  documents.check_disk()
  local params = with_choice(move.params, choice)
  session.ask(move.method, vim.tbl_extend("force", params, { dryRun = true }), function(plan)
    if plan.reason then
      return session.say(plan.reason)
    end
    local close = view.preview(drawn(move.title, plan.files))
    local clear = #plan.files.conflicts == 0
    local items = {}
    if clear or choice ~= nil then
      items[1] = { "do", ("%s now: %s"):format(move.verb, told(plan.files)) }
    end
    if not clear or choice ~= nil then
      for _, other in ipairs(CHOICES) do
        if other[1] ~= choice then
          items[#items + 1] = other
        end
      end
    end
    items[#items + 1] = { "leave", "Leave everything as it is" }
    local prompt = clear and ("Sidecar: %s?"):format(move.verb) or "Sidecar: some files were changed since. What wins?"
    vim.ui.select(items, { prompt = prompt, kind = "sidecar", format_item = second }, function(item)
      close()
      if item and item[1] == "do" then
        session.ask(move.method, params, function(result)
          if move.after then
            return move.after(result)
          end
          carried_out(result, move.done)
        end)
      elseif item and item[1] ~= "leave" then
        vim.schedule(function()
          consider(move, item[1])
        end)
      end
    end)
  end)
end

M.consider = consider

--- Has one of the files chosen that a move would touch; the rest is kept.
local function one_file(move)
  move.params.scope = "files"
  session.ask(move.method, vim.tbl_extend("force", move.params, { dryRun = true }), function(plan)
    local paths = {}
    for _, fate in ipairs({ "restored", "merged", "conflicts" }) do
      for _, file in ipairs(plan.files[fate]) do
        paths[#paths + 1] = file.path
      end
    end
    if #paths == 0 then
      return session.say("no file was changed since.")
    end
    vim.ui.select(paths, { prompt = "Sidecar: which file goes back", kind = "sidecar" }, function(path)
      if path then
        move.params.paths, move.title = { path }, move.title .. ": " .. path
        vim.schedule(function()
          consider(move)
        end)
      end
    end)
  end)
end

local function back_to(item, scope)
  local checkpoint = item[1]
  local move = { method = "checkpoint/restore", verb = "Go back", done = "gone back" }
  move.title = ("Back to: %s (%s)"):format(vim.trim(item[2]), scope)
  move.params = { scope = scope }
  if item[3] then
    move.params.beforeMessageId = checkpoint.messageId
  else
    move.params.checkpointId = checkpoint.checkpointId
  end
  if scope == "file" then
    return one_file(move)
  end
  consider(move)
end

--- Asks what goes back to an item, then goes.
local function with_scope(item, scopes)
  local options = { prompt = "Sidecar: what goes back", kind = "sidecar", format_item = second }
  vim.ui.select(scopes, options, function(scope)
    if scope then
      back_to(item, scope[1])
    end
  end)
end

--- Goes back to before the message that the cursor is on or behind, which is in the input then.
function M.edit()
  local id, text = chat.message_here()
  if not id then
    return session.say("there is no message of yours to change.")
  end
  local title = ("Before “%s”"):format((text:gsub("\n.*", " …")))
  with_scope({ { messageId = id }, title, true }, { SCOPES[3], SCOPES[1] })
end

function M.back()
  session.ask("checkpoint/list", {}, function(listed)
    local items = items_of(listed.checkpoints)
    if #items == 0 then
      return session.say("there is nothing to go back to yet.")
    end
    local options = { prompt = "Sidecar: go back to", kind = "sidecar", format_item = second }
    vim.ui.select(items, options, function(item)
      if not item then
        return
      end
      vim.schedule(function()
        with_scope(item, SCOPES)
      end)
    end)
  end)
end

function M.redo()
  consider({
    method = "checkpoint/redo",
    params = {},
    title = "Undo the newest going back",
    verb = "Redo",
    done = "gone forth again",
  })
end

return M
