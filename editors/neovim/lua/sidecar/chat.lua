--- The chat: a buffer that shows the session as it happens, and one below it to write in.
local composer = require("sidecar.composer")
local config = require("sidecar.config")
local markdown = require("sidecar.markdown")
local meter = require("sidecar.meter")
local session = require("sidecar.session")
local unseen = require("sidecar.unseen")
local view = require("sidecar.view")

local M = {}

local FRAME = 40
local MOST_OUTPUT = 300
--- Lines that stay open at the end of what failed.
local TAIL = 10
local HINT = "Write below; <C-s> sends, in Normal mode <CR> too. @ names a file, / lists the commands."
local space = vim.api.nvim_create_namespace("sidecar_chat")
--- What is shown, in order; each has `kind`, `lines` as they stand in the buffer, and what to draw.
local blocks, by_key = {}, {}
--- The fold level of each line of the buffer.
local folds = {}
local scheduled, empty, stale_folds = false, true, false
--- A question moved the chat from its end, to which it goes back then.
local returning = false

local ICONS = { pending = "·", in_progress = "◌", completed = "✓", failed = "✗", waiting = "?" }
local GROUPS = { completed = "SidecarDone", failed = "SidecarFailed", waiting = "SidecarWaiting" }
local VERBS = { read = "Read", edit = "Edit", search = "Search", execute = "Run", delete = "Delete", fetch = "Fetch" }
local PLAN = { completed = "☑ ", in_progress = "◐ ", pending = "☐ " }

local function buffer_of(name, setup)
  local full = "sidecar://" .. name
  local buffer = vim.fn.bufnr("^" .. full .. "$")
  if buffer < 0 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, full)
    vim.bo[buffer].bufhidden = "hide"
    vim.bo[buffer].swapfile = false
    setup(buffer)
  end
  return buffer
end

-- Drawing: each block gives its lines, and for each the group that colours it.

local function indented(text, by, at_end)
  local lines = vim.split((text:gsub("\r", ""):gsub("\n+$", "")), "\n", { plain = true })
  local more = #lines - MOST_OUTPUT
  if more > 0 and at_end then
    lines = vim.list_slice(lines, more + 1)
    table.insert(lines, 1, ("… %d lines before"):format(more))
  elseif more > 0 then
    lines = vim.list_slice(lines, 1, MOST_OUTPUT)
    lines[#lines + 1] = ("… %d more lines"):format(more)
  end
  return vim.tbl_map(function(line)
    return by .. line
  end, lines)
end

local function tool_title(block)
  local verb = VERBS[block.tool_kind]
  local title = (block.title or "tool"):gsub("\n.*", " …")
  if verb and title ~= "" and not title:match("^" .. verb) then
    title = verb .. " " .. title
  end
  local about = block.metadata or {}
  if about.additions then
    title = ("%s  +%d -%d"):format(title, about.additions, about.deletions or 0)
  elseif about.exitCode and about.exitCode ~= 0 then
    title = ("%s  exit code %d"):format(title, about.exitCode)
  end
  return title
end

local function tool_body(block)
  local diff = (block.metadata or {}).diff
  if not block.waiting and (diff or block.output ~= "") then
    return diff or block.output
  end
  if block.waiting then
    return table.concat(block.waiting, "\n")
  end
  local input = {}
  for name, value in pairs(type(block.input) == "table" and block.input or {}) do
    input[#input + 1] = name .. ": " .. (type(value) == "string" and value or vim.json.encode(value))
  end
  table.sort(input)
  return table.concat(input, "\n")
end

local function diff_group(line)
  local sign = line:match("^    ([-+@])")
  return sign == "+" and "SidecarAdded" or sign == "-" and "SidecarRemoved" or "SidecarQuiet"
end

local draw = {}

function draw.gone()
  return {}
end

function draw.user(block)
  local lines = indented(block.text, "  ")
  lines[1] = "❯ " .. lines[1]:sub(3)
  table.insert(lines, 1, "")
  return lines, function()
    return "SidecarUser"
  end
end

function draw.agent(block)
  local lines = vim.split(vim.trim(block.text), "\n", { plain = true })
  table.insert(lines, 1, "")
  return lines, function() end
end

function draw.thought(block)
  local lines = indented(block.text, "    ")
  lines[1] = "  ∴ " .. lines[1]:sub(5)
  table.insert(lines, 1, "")
  return lines, function()
    return "SidecarQuiet"
  end, 2
end

--- A command that ends with another code than 0 has failed, too.
local function status_of(block)
  local code = (block.metadata or {}).exitCode
  return block.waiting and "waiting" or code and code ~= 0 and "failed" or block.status
end

function draw.tool(block)
  local status = status_of(block)
  local failed = status == "failed"
  local lines = { ("%s %s"):format(ICONS[status] or "·", tool_title(block)) }
  local body = tool_body(block)
  vim.list_extend(lines, body ~= "" and indented(body, "    ", failed) or {})
  local first = block.leads and 2 or 1
  if block.leads then
    table.insert(lines, 1, "")
  end
  return lines, function(i, line)
    return i <= first and (GROUPS[status] or "SidecarTool") or diff_group(line)
  end, not block.waiting and first or nil, failed and #lines - TAIL or nil
end

function draw.plan(block)
  local lines = vim.tbl_map(function(entry)
    return "  " .. (PLAN[entry.status] or PLAN.pending) .. entry.content
  end, block.entries)
  return lines, function(_, line)
    return line:find("☑", 1, true) and "SidecarQuiet"
  end
end

function draw.line(block)
  return indented(block.text, ""), function()
    return block.group
  end
end

local function paint(buffer, start, block)
  for i, line in ipairs(block.lines) do
    local group = line ~= "" and (block.unseen and "SidecarUnseen" or block.paint(i, line))
    if group then
      local options = { end_col = #line, hl_group = group, priority = 200 }
      vim.api.nvim_buf_set_extmark(buffer, space, start + i - 1, 0, options)
    end
  end
  if block.unseen and #block.lines > 0 then
    local title = start + (block.lines[1] == "" and #block.lines > 1 and 1 or 0)
    local mark = { virt_text = { { "  " .. block.unseen, "SidecarUnseen" } } }
    vim.api.nvim_buf_set_extmark(buffer, space, title, 0, mark)
  end
end

--- Windows that stand at the buffer's end: they go on standing there.
local function following(buffer)
  local last = vim.api.nvim_buf_line_count(buffer)
  return vim.tbl_filter(function(window)
    return vim.api.nvim_win_get_cursor(window)[1] >= last
  end, vim.fn.win_findbuf(buffer))
end

local function same_start(a, b)
  local same = 0
  while same < #a and same < #b and a[same + 1] == b[same + 1] do
    same = same + 1
  end
  return same
end

--- Draws what is dirty. Gives the first and last such block, the line where the first begins, how
--- many of its lines stay, and the line behind the last as it stood before.
local function redraw()
  local first, last, start, same, stop
  local line = 0
  for index, block in ipairs(blocks) do
    local before = block.lines
    if block.dirty then
      block.lines, block.paint, block.fold_from, block.fold_till = draw[block.kind](block)
      block.dirty = false
      if not first then
        first, start, same = index, line, same_start(before, block.lines)
      end
      last, stop = index, line + #before
    end
    line = line + #before
  end
  return first, last, start, same, stop
end

local function fill_folds()
  folds = {}
  for _, block in ipairs(blocks) do
    local from, till = block.fold_from, block.fold_till or #block.lines
    for i = 1, #block.lines do
      folds[#folds + 1] = (not from or i < from or i > till or till == from) and "0" or i == from and ">1" or "1"
    end
  end
end

--- Where answers stand in the buffer.
local function answers()
  local places, line = {}, 0
  for _, block in ipairs(blocks) do
    if block.kind == "agent" then
      -- Behind the empty line before each.
      places[#places + 1] = { line + 1, line + #block.lines }
    end
    line = line + #block.lines
  end
  return places
end

--- Brings the buffer up to date, with one change to it: its folds are known before.
function M.flush()
  scheduled = false
  local first, last, start, same, stop = redraw()
  if not first then
    return
  end
  fill_folds()
  local lines = {}
  for index = first, last do
    vim.list_extend(lines, blocks[index].lines, index == first and same + 1 or 1)
  end
  local buffer = M.buffer()
  local follow = following(buffer)
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, start + same, empty and -1 or stop, false, lines)
  vim.bo[buffer].modifiable = false
  empty = false
  markdown.regions(answers())
  vim.api.nvim_buf_clear_namespace(buffer, space, start, start + same + #lines)
  for index = first, last do
    paint(buffer, start, blocks[index])
    start = start + #blocks[index].lines
  end
  -- Neovim leaves folds alone while someone types, wherever that is.
  stale_folds = stale_folds or vim.api.nvim_get_mode().mode:sub(1, 1) == "i"
  for _, window in ipairs(follow) do
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! Gzb")
    end)
  end
end

function M.refold()
  if stale_folds then
    stale_folds = false
    for _, window in ipairs(vim.fn.win_findbuf(M.buffer())) do
      vim.api.nvim_win_call(window, function()
        vim.cmd("normal! zX")
      end)
    end
  end
end

local function dirty(block)
  block.dirty = true
  if not scheduled then
    scheduled = true
    vim.defer_fn(M.flush, FRAME)
  end
end

--- Marks what the model no longer sees whole, soon.
local function look()
  unseen.look(function(marks)
    for part, block in pairs(by_key) do
      if block.unseen ~= marks[part] then
        block.unseen = marks[part]
        dirty(block)
      end
    end
  end)
end

local function add(kind, block, key)
  block.kind, block.lines = kind, {}
  blocks[#blocks + 1] = block
  if key then
    by_key[key] = block
  end
  dirty(block)
  return block
end

--- Forgets what is shown: another session's history comes, or this one's anew.
function M.clear()
  blocks, by_key, empty = {}, {}, true
  look()
  add("line", { text = HINT, group = "SidecarQuiet" }, "hint")
end

-- What the daemon tells.

local function words(content)
  if content.type == "text" then
    return content.text
  end
  local uri = content.uri or (content.resource or {}).uri
  local part = unseen.called(uri)
  return part and "+ " .. part or ("[%s]"):format(uri or content.name or content.type)
end

local function said(kind)
  return function(update, meta)
    local block = by_key[meta.partId] or add(kind, { text = "" }, meta.partId)
    block.text, block.message = block.text .. words(update.content), meta.messageId
    dirty(block)
  end
end

local function tool(update, meta)
  local key = meta.partId or update.toolCallId
  local before = blocks[#blocks]
  local block = by_key[key] or add("tool", { output = "", leads = before and before.kind ~= "tool" }, key)
  block.title, block.tool_kind = update.title or block.title, update.kind or block.tool_kind
  block.status, block.input = update.status or block.status, update.rawInput or block.input
  block.metadata = meta.metadata or block.metadata
  if update.content then
    local texts = {}
    for _, one in ipairs(update.content) do
      texts[#texts + 1] = one.content and words(one.content) or nil
    end
    block.output = table.concat(texts, "\n")
  elseif meta.outputDelta then
    block.output = block.output .. meta.outputDelta
  end
  dirty(block)
end

local function compacted(update)
  local undone = update.status == "undone"
  local text = ("── context %s → %s tokens"):format(meter.count(update.tokensBefore), meter.count(update.tokensAfter))
  local price = meter.money(update.price)
  text = ("%s · %s%s%s ──"):format(text, update.cause, undone and ", taken back" or "", price and " · " .. price or "")
  if update.status == "failed" then
    text = "── compaction failed, nothing was changed ──"
  end
  add("line", { text = text, group = "SidecarQuiet", compaction = update.compactionId })
  look()
end

local function ended(update)
  look()
  local usage = update.usage
  local requests = usage.requests == 1 and "%d request" or "%d requests"
  local parts = { requests:format(usage.requests), meter.count(usage.totalTokens) .. " tokens" }
  parts[#parts + 1] = meter.money(update.cost)
  if update.stopReason ~= "end_turn" then
    table.insert(parts, 1, (update.stopReason:gsub("_", " ")))
  end
  M.note(("\n── %s ──"):format(table.concat(parts, " · ")))
  if update.error then
    M.note(update.error.message, "SidecarFailed")
  end
end

local updates = {
  user_message_chunk = said("user"),
  agent_message_chunk = said("agent"),
  agent_thought_chunk = said("thought"),
  tool_call = tool,
  tool_call_update = tool,
  turn_ended = ended,
  compaction_update = compacted,
  plan = function(update, meta)
    local key = "plan " .. (meta.turnId or "")
    local block = by_key[key] or add("plan", {}, key)
    block.entries = update.entries
    dirty(block)
  end,
  notice = function(update)
    M.note(update.message, update.level ~= "info" and "SidecarNotice" or "SidecarQuiet")
  end,
  session_info_update = function(update)
    session.title = update.title or session.title
  end,
  config_option_update = function(update)
    session.options = update.configOptions
  end,
}

--- Takes parts back that were streamed by an attempt which failed.
function M.withdraw(parts)
  for _, id in ipairs(parts or {}) do
    if by_key[id] then
      by_key[id].kind = "gone"
      dirty(by_key[id])
    end
  end
end

function M.update(params)
  local update = params.update
  local meta = (update._meta or {}).sidecar or {}
  if params.sessionId ~= session.id then
    return
  end
  M.withdraw(meta.discards)
  if updates[update.sessionUpdate] then
    updates[update.sessionUpdate](update, meta)
  end
end

--- A line of our own.
function M.note(text, group)
  add("line", { text = text, group = group or "SidecarQuiet" })
end

--- The place of the block on a line, and the line of it; behind all of them the last one and 0.
local function place_of(line)
  for index, block in ipairs(blocks) do
    if line <= #block.lines then
      return index, line
    end
    line = line - #block.lines
  end
  return #blocks, 0
end

--- The place of the block the cursor is on, and the line of it; outside of the chat the last one.
local function here()
  return place_of(vim.api.nvim_get_current_buf() == M.buffer() and vim.fn.line(".") or math.huge)
end

--- The compaction whose line the cursor is on; nil where it is on none.
function M.compaction_here()
  local index, line = here()
  return line > 0 and blocks[index].compaction or nil
end

local function newest(kind, index)
  for at = index, 1, -1 do
    if blocks[at].kind == kind then
      return blocks[at]
    end
  end
end

--- The user's message that the cursor is on or behind: its id and text; nil where there is none.
function M.message_here()
  local block = newest("user", (here()))
  return block and block.message, block and block.text
end

--- The code between fences around a line, if there is some.
local function fenced(lines, at)
  local first
  for i, line in ipairs(lines) do
    if line:match("^%s*```") then
      if first and at >= first and at <= i then
        return table.concat(vim.list_slice(lines, first + 1, i - 1), "\n") .. "\n"
      end
      first = not first and i or nil
    end
  end
end

--- Copies what the cursor is on: a block of code, or the whole answer, message or output; outside of
--- the chat the last answer.
function M.copy()
  local index, line = here()
  local block = line > 0 and blocks[index] or newest("agent", index)
  local code = block and block.kind == "agent" and line > 0 and fenced(block.lines, line)
  local text = code or block and (block.kind == "tool" and tool_body(block) or vim.trim(block.text or ""))
  if not text or text == "" then
    return session.say("there is nothing to copy here.")
  end
  vim.fn.setreg(vim.v.register, text)
  session.say(("copied %s."):format(code and "the code" or block.kind == "agent" and "the answer" or "this"))
end

--- Lets the part that the cursor is on go along whole with the next message, or no more; outside of
--- the chat the last answer.
function M.recall()
  local index, line = here()
  local block = line > 0 and blocks[index] or newest("agent", index)
  if block and block.kind == "thought" then
    return session.say("thinking is the model's own, and goes along nowhere.")
  end
  for part, one in pairs(block and block.unseen and by_key or {}) do
    if one == block then
      local what = block.kind == "user" and "what you said" or block.kind == "agent" and "the answer" or block.kind
      local text = vim.trim(block.text or ""):gsub("\n.*", " …")
      return unseen.recall(part, block.kind == "tool" and tool_title(block) or ("%s: %s"):format(what, text))
    end
  end
  session.say("the model sees this whole, as far as it is of the conversation.")
end

--- How many lines stand before a block.
local function lines_before(block)
  local before = 0
  for _, other in ipairs(blocks) do
    if other == block then
      break
    end
    before = before + #other.lines
  end
  return before
end

--- Puts the cursor on a part of the conversation.
function M.go_to(part)
  M.flush()
  local block, window = by_key[part], vim.fn.bufwinid(M.buffer())
  if not block then
    session.say("this is not in the conversation any more: going back left it behind.")
  elseif window >= 0 then
    vim.api.nvim_set_current_win(window)
    -- A blank line may part it from what is before.
    local blank = block.lines[1] == "" and #block.lines > 1
    vim.api.nvim_win_set_cursor(window, { lines_before(block) + (blank and 2 or 1), 0 })
    vim.cmd("normal! zvzz")
  end
end

--- Scrolls to a block; gives whether it is seen whole. If not, the window stays as it was.
local function reveal(window, block, room)
  local first = lines_before(block) + 1
  local last = first + #block.lines - 1
  return vim.api.nvim_win_call(window, function()
    local was = vim.fn.winsaveview()
    for _, way in ipairs({ { last, "zb" }, { first, "zt" } }) do
      vim.api.nvim_win_set_cursor(window, { way[1], 0 })
      vim.cmd("normal! " .. way[2])
      -- What has to be chosen comes over the screen's last rows.
      local row = vim.fn.screenpos(window, last, math.max(#vim.fn.getline(last), 1)).row
      if vim.fn.line("w0") <= first and vim.fn.line("w$") >= last and row > 0 and row <= room then
        return true
      end
    end
    vim.fn.winrestview(was)
    return false
  end)
end

--- Shows that a call waits for the user, with `lines` that say what it would do, or no longer.
--- Gives whether all of them can be seen in the upper `room` rows of the screen.
function M.waiting(call, lines, room)
  local block = by_key[((call._meta or {}).sidecar or {}).partId or call.toolCallId]
  if block then
    block.waiting = lines
    dirty(block)
  end
  M.flush()
  local window = vim.fn.bufwinid(M.buffer())
  if not block or window < 0 then
    return false
  elseif lines then
    returning = returning or #following(M.buffer()) > 0
    -- The rest of a longer line would pass for another one of a change.
    local changes = type(call.content) == "table" and #call.content > 0
    -- It stands there behind four blanks.
    local wraps = changes and view.rows(lines, vim.api.nvim_win_get_width(window) - 4) > #lines
    return #lines < MOST_OUTPUT and not wraps and reveal(window, block, room)
  elseif returning then
    returning = false
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! Gzb")
    end)
  end
end

-- The windows.

function M.foldexpr(line)
  return folds[line] or "0"
end

function M.foldtext()
  local line, hidden = vim.fn.getline(vim.v.foldstart), vim.v.foldend - vim.v.foldstart
  local more = ("  ⋯ %d"):format(hidden)
  local block = blocks[place_of(vim.v.foldstart)]
  if block and block.unseen then
    more = more .. "  " .. block.unseen
  end
  if vim.fn.has("nvim-0.10") == 0 then
    return line .. more
  end
  local group = block and block.unseen and "SidecarUnseen" or "SidecarTool"
  for status, icon in pairs(ICONS) do
    if vim.startswith(line, icon) and group == "SidecarTool" then
      group = GROUPS[status] or group
    end
  end
  return { { line, vim.startswith(line, " ") and "SidecarQuiet" or group }, { more, "SidecarQuiet" } }
end

function M.winline()
  local title = view.title(session)
  local room = vim.fn.winwidth(vim.g.statusline_winid) - vim.fn.strchars((meter.text())) - 4
  if vim.fn.strchars(title) > room then
    title = vim.fn.strcharpart(title, 0, math.max(room - 1, 0)) .. "…"
  end
  return " " .. title:gsub("%%", "%%%%") .. "%= " .. meter.statusline() .. " "
end

local function map(buffer, mode, keys, run, what)
  vim.keymap.set(mode, keys, run, { buffer = buffer, desc = "Sidecar: " .. what })
end

function M.buffer()
  return buffer_of("chat", function(buffer)
    vim.bo[buffer].modifiable = false
    map(buffer, "n", "<Tab>", "za", "open or close a fold")
    map(buffer, "n", "<C-c>", session.cancel, "cancel the turn")
    map(buffer, "n", "c", "<Cmd>Sidecar edit<CR>", "change the message here and send it anew")
    map(buffer, "n", "r", "<Cmd>Sidecar review<CR>", "review what the turn here changed")
    map(buffer, "n", "R", M.recall, "let what the model no longer sees go along with the next message")
    map(buffer, "n", "Y", M.copy, "copy the code, answer or output here")
    for _, key in ipairs({ "i", "a", "<CR>" }) do
      map(buffer, "n", key, M.write, "write a message")
    end
    -- After the maps, so that a user's own win.
    vim.bo[buffer].filetype = "sidecar"
    vim.bo[buffer].syntax = "markdown"
    markdown.start(buffer)
  end)
end

function M.input()
  return buffer_of("message", function(buffer)
    map(buffer, "n", "<CR>", M.send, "send")
    map(buffer, "i", "<C-s>", M.send, "send")
    map(buffer, "n", "<C-c>", session.cancel, "cancel the turn")
    composer.attach(buffer)
    vim.bo[buffer].filetype = "sidecar_message"
  end)
end

function M.typed()
  return table.concat(vim.api.nvim_buf_get_lines(M.input(), 0, -1, false), "\n")
end

function M.set_input(text)
  vim.api.nvim_buf_set_lines(M.input(), 0, -1, false, vim.split(text, "\n", { plain = true }))
end

--- Shows the chat and goes to its input.
function M.open()
  local chat, input = vim.fn.bufwinid(M.buffer()), vim.fn.bufwinid(M.input())
  if chat < 0 then
    local width = config.values.chat.width
    vim.cmd("botright vertical sbuffer " .. M.buffer())
    chat = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_width(chat, math.floor(width < 1 and vim.o.columns * width or width))
    view.dress(chat, {
      wrap = true,
      foldmethod = "expr",
      foldexpr = "v:lua.require'sidecar.chat'.foldexpr(v:lnum)",
      foldtext = "v:lua.require'sidecar.chat'.foldtext()",
      foldlevel = 0,
      foldminlines = 0,
      foldenable = true,
      fillchars = "fold: ,eob: ",
      winhighlight = "Folded:SidecarQuiet",
      conceallevel = markdown.on() and 2 or 0,
      concealcursor = "nc",
      winfixwidth = true,
      statusline = "%{%v:lua.require'sidecar.chat'.winline()%}",
    })
    vim.api.nvim_win_set_cursor(chat, { vim.api.nvim_buf_line_count(M.buffer()), 0 })
  end
  if input < 0 then
    vim.api.nvim_set_current_win(chat)
    vim.cmd("belowright sbuffer " .. M.input())
    input = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_height(input, config.values.chat.input_height)
    local keys = " message %{v:lua.require'sidecar.unseen'.along()}%=<C-s> sends%< · Normal: <CR> too, <C-c> cancels "
    view.dress(input, { wrap = true, winfixheight = true, fillchars = "eob: ", statusline = keys })
  end
  vim.api.nvim_set_current_win(input)
end

--- Shows the chat and begins to write.
function M.write()
  M.open()
  vim.cmd("startinsert!")
end

--- Sends `text`, or what stands in the input. A `/command` is run instead, unless it is `meant` for
--- the model; what is none stays where it was written.
function M.send(text, selection, meant)
  local typed = not text and M.typed()
  local prompt = vim.trim(text or typed)
  if prompt == "" then
    return M.write()
  end
  local ran, wrong
  if not meant then
    ran, wrong = composer.run(prompt)
  end
  if wrong and typed then
    return composer.tell(M.input(), wrong)
  elseif wrong then
    return session.say(wrong, vim.log.levels.WARN)
  end
  if typed then
    -- A question may come at any moment, which what is typed on would answer.
    vim.cmd("stopinsert")
    M.set_input("")
  end
  if ran then
    return
  end
  local along, put_back = unseen.take()
  table.insert(along, 1, { type = "text", text = prompt })
  session.prompt(along, selection, function(_, err)
    if err then
      put_back()
      session.say(err.message, vim.log.levels.ERROR)
      M.set_input(prompt)
    end
  end)
end

return M
