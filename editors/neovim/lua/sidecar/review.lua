--- What is left of a turn's changes: each file and each hunk is kept or taken back on its own.
local config = require("sidecar.config")
local daemon = require("sidecar.daemon")
local documents = require("sidecar.documents")
local rollback = require("sidecar.rollback")
local session = require("sidecar.session")
local view = require("sidecar.view")

local M = {}

local OTHER = { ["+"] = "-", ["-"] = "+" }
local BAD_REQUEST = -32602
--- A turn of which the end was told is still concluded for a moment: tries, and milliseconds between.
local TRIES, CONCLUDED = 5, 300
local KEYS = "# x takes back the hunk here, X the file; a, A keep it; u undoes that; <CR> opens the file, q closes"
local MAPS = {
  { "x", "take-back-hunk", "take back the hunk here" },
  { "X", "take-back-file", "take back the file here" },
  { "a", "keep-hunk", "keep the hunk here" },
  { "A", "keep-file", "keep the file here" },
  { "u", "undo-review", "undo the last keeping or taking back here" },
  { "<CR>", "open-hunk", "open the file here" },
}

--- The turn that is reviewed, and what stands on each line of the buffer: a file, its hunk, and the line of the file.
local turn, places
--- Names of hunks that are kept, and what was done last: names that were kept, or the id of a restore.
local kept, done = {}, {}

--- Gives the hunks of a diff, as the daemon takes them.
local function parted(diff)
  local hunks = vim.split("\n" .. diff, "\n@@ ", { plain = true })
  table.remove(hunks, 1)
  for i, hunk in ipairs(hunks) do
    hunks[i] = "@@ " .. hunk .. (i < #hunks and "\n" or "")
  end
  return hunks
end

--- Gives the lines of a hunk of what a restore would do as the turn made it; what goes stands before what comes.
local function turned(hunk)
  local lines = vim.split((hunk:gsub("\n$", "")), "\n", { plain = true })
  local made = { (lines[1]:gsub("%-(%S+) %+(%S+)", "-%2 +%1", 1)) }
  local sides, last = { ["-"] = {}, ["+"] = {} }, made
  for i = 2, #lines + 1 do
    local line = lines[i] or " "
    local sign = line:sub(1, 1)
    if OTHER[sign] then
      last = sides[OTHER[sign]]
      line = OTHER[sign] .. line:sub(2)
    elseif sign ~= "\\" then
      vim.list_extend(vim.list_extend(made, sides["-"]), sides["+"])
      sides, last = { ["-"] = {}, ["+"] = {} }, made
    end
    last[#last + 1] = line
  end
  -- The last line ended the last run.
  made[#made] = nil
  return made
end

--- Names hunks by their text without its place, and which of those with that text each is: one that changes is another,
--- one that moves is not.
local function named(path, hunks)
  local names, counts = {}, {}
  for _, hunk in ipairs(hunks) do
    local text = hunk:match("\n.*")
    counts[text] = (counts[text] or 0) + 1
    names[hunk] = ("%s %d %d "):format(turn.from, counts[text], #path) .. path .. text
  end
  return names
end

--- Adds what is left of a file's change: `add(line, hunk, line of the file)`.
local function draw(file, add)
  local hunks = parted(file.diff or "")
  local path = view.line(file.path)
  file.all, file.names = hunks, named(file.path, hunks)
  file.hunks = vim.tbl_filter(function(hunk)
    return not kept[file.names[hunk]]
  end, hunks)
  if #file.hunks == 0 then
    return add(("# %s: %s"):format(path, #hunks > 0 and "kept" or view.visible(file.reason)))
  end
  add("--- a/" .. path)
  add("+++ b/" .. path)
  for _, hunk in ipairs(file.hunks) do
    local lines = turned(hunk)
    local at = tonumber(lines[1]:match("%+(%d+)"))
    for i, line in ipairs(lines) do
      add(line, hunk, math.max(at, 1))
      at = at + (i > 1 and line:find("^[ +]") and 1 or 0)
    end
  end
end

local function files_of(plan)
  local files = {}
  for _, fate in ipairs({ "conflicts", "merged", "restored", "skipped" }) do
    vim.list_extend(files, plan.files[fate])
  end
  table.sort(files, function(one, other)
    return one.path < other.path
  end)
  return files
end

local function show(plan)
  local title = view.line((turn.title:gsub("\n.*", " …")))
  local lines = { ("# What is left of the changes of “%s”"):format(title), KEYS, "" }
  places = {}
  for _, file in ipairs(files_of(plan)) do
    draw(file, function(line, hunk, at)
      lines[#lines + 1] = line
      places[#lines] = { file = file, hunk = hunk, at = at }
    end)
  end
  view.show(M.buffer(), lines)
end

--- Asks for a restore of the turn's files, or of some; `answered(result, error)`.
local function restore(params, answered)
  documents.check_disk()
  local asked = { sessionId = turn.session, checkpointId = turn.from, scope = "files", paths = turn.paths }
  daemon.request("checkpoint/restore", vim.tbl_extend("force", asked, params), answered)
end

--- Draws what is left: what going back would do now.
local function look(times)
  restore({ dryRun = true, onConflict = "merge" }, function(plan, err)
    if plan then
      return show(plan)
    elseif err.code ~= BAD_REQUEST or times == 1 then
      return session.say(err.message, vim.log.levels.ERROR)
    end
    vim.defer_fn(function()
      look((times or TRIES) - 1)
    end, CONCLUDED)
  end)
end

--- Tells what was done or refused, and draws what is left.
local function after(result, err)
  if err then
    session.say(err.message, vim.log.levels.ERROR)
  else
    session.say(table.concat(vim.list_extend({ "taken back." }, result.notes or {}), " "))
  end
  documents.check_disk()
  look()
end

local function took_back(result, err)
  if result then
    done[#done + 1] = result.undoCheckpointId
  end
  after(result, err)
end

--- Carries out a move of |rollback|; one without conflicts is asked about no more.
local function go(move, answered)
  session.ask(move.method, vim.tbl_extend("error", { dryRun = true, onConflict = "merge" }, move.params), function(plan)
    if plan.reason then
      session.say(plan.reason)
      return look()
    elseif #plan.files.conflicts > 0 then
      move.after = answered
      return rollback.consider(move)
    end
    local params = { onConflict = "merge", expectedRevision = plan.revision }
    daemon.request(move.method, vim.tbl_extend("error", params, move.params), answered)
  end)
end

local actions = {}

actions["take-back-file"] = function(place)
  documents.check_disk()
  local params = { sessionId = turn.session, checkpointId = turn.from, scope = "files", paths = { place.file.path } }
  local title = "Take back " .. place.file.path
  go({ method = "checkpoint/restore", params = params, title = title, verb = "Take it back" }, took_back)
end

actions["take-back-hunk"] = function(place)
  if not place.hunk or turn.moved[place.file.path] then
    -- A file that was moved goes back whole, with its other name.
    return actions["take-back-file"](place)
  end
  local file, seen, text = place.file, false, place.hunk:match("\n.*")
  restore({ paths = { file.path }, hunks = { place.hunk }, onConflict = "merge" }, function(result, err)
    -- Those behind it that have its text are counted anew: what was kept of them may be another.
    for _, hunk in ipairs(result and file.all or {}) do
      seen = seen or hunk == place.hunk
      if seen and hunk:match("\n.*") == text then
        kept[file.names[hunk]] = nil
      end
    end
    took_back(result, err)
  end)
end

local function keep(file, hunks)
  local names = {}
  for _, hunk in ipairs(hunks) do
    names[#names + 1] = file.names[hunk]
    kept[names[#names]] = true
  end
  done[#done + 1] = names
  look()
end

actions["keep-file"] = function(place)
  keep(place.file, place.file.hunks)
end

actions["keep-hunk"] = function(place)
  keep(place.file, place.hunk and { place.hunk } or place.file.hunks)
end

actions["undo-review"] = function()
  local last = done[#done]
  if type(last) == "string" then
    documents.check_disk()
    local params = { sessionId = turn.session, checkpointId = last }
    local move = { method = "checkpoint/redo", params = params, title = "Undo the taking back", verb = "Undo it" }
    return go(move, function(_, err)
      if err then
        session.say(err.message, vim.log.levels.ERROR)
      elseif done[#done] == last then
        table.remove(done)
      end
      documents.check_disk()
      look()
    end)
  end
  table.remove(done)
  for _, one in ipairs(last or {}) do
    kept[one] = nil
  end
  look()
end

actions["open-hunk"] = function(place)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.bo[vim.api.nvim_win_get_buf(window)].buftype == "" then
      vim.api.nvim_set_current_win(window)
    end
  end
  if vim.bo.buftype ~= "" then
    vim.cmd("aboveleft split")
  end
  -- An Ex command would end at a line end in the name, and run the rest.
  local buffer = vim.fn.bufadd(config.root() .. "/" .. place.file.path)
  vim.bo[buffer].buflisted = true
  vim.api.nvim_set_current_buf(buffer)
  vim.api.nvim_win_set_cursor(0, { math.min(place.at or 1, vim.api.nvim_buf_line_count(0)), 0 })
end

--- The review's buffer; its maps come before its 'filetype', so that a user's own win.
function M.buffer()
  local buffer = vim.fn.bufnr("^sidecar://review$")
  if buffer >= 0 then
    return buffer
  end
  buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, "sidecar://review")
  vim.bo[buffer].bufhidden = "hide"
  for _, map in ipairs(MAPS) do
    local plug = ("<Plug>(sidecar-%s)"):format(map[2])
    vim.keymap.set("n", plug, function()
      local place = places[vim.fn.line(".")]
      if place or map[2] == "undo-review" then
        actions[map[2]](place)
      end
    end, { buffer = buffer, desc = "Sidecar: " .. map[3] })
    vim.keymap.set("n", map[1], plug, { buffer = buffer, remap = true, nowait = true, desc = "Sidecar: " .. map[3] })
  end
  for key, flags in pairs({ ["]c"] = "W", ["[c"] = "bW" }) do
    vim.keymap.set("n", key, function()
      vim.fn.search("^@@ ", flags)
    end, { buffer = buffer, desc = "Sidecar: another hunk" })
  end
  vim.bo[buffer].filetype = "sidecar_review"
  vim.bo[buffer].syntax = "diff"
  return buffer
end

--- Gives the turns that changed files, by what the daemon lists, the oldest first.
local function turns_of(checkpoints, id)
  local turns, known = {}, {}
  for _, one in ipairs(checkpoints) do
    local before = known[one.turnId]
    if not before and not one.left then
      before = { session = id, from = one.checkpointId, message = one.messageId, title = one.title, moved = {} }
      known[one.turnId] = before
    elseif before and not one.left and #one.files > 0 then
      if not before.paths then
        before.paths, turns[#turns + 1] = {}, before
      end
      for _, file in ipairs(one.files) do
        for _, path in ipairs({ file.path, file.from }) do
          before.moved[path] = before.moved[path] or file.from ~= nil
          before.paths[#before.paths + 1] = path
        end
      end
    end
  end
  return turns
end

--- Reviews the turn of a message, else the newest that changed files.
function M.open(message)
  session.ask("checkpoint/list", {}, function(listed)
    local turns = turns_of(listed.checkpoints, session.id)
    if #turns == 0 then
      return session.say("no turn has changed a file yet.")
    end
    turn, done = turns[#turns], {}
    for _, one in ipairs(turns) do
      turn = one.message == message and one or turn
    end
    look()
  end)
end

return M
