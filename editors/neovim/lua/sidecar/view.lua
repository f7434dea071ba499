--- Buffers to read: previews, the context, the log.
local config = require("sidecar.config")
local meter = require("sidecar.meter")
local session = require("sidecar.session")

local M = {}

local REGIONS = {
  { "system", "system" },
  { "tools", "tools" },
  { "instructions", "instructions" },
  { "learned", "learned" },
  { "summary", "summary" },
  { "ledger", "ledger" },
  { "user", "you" },
  { "assistant", "model" },
  { "reasoning", "thinking" },
  { "toolResults", "tool results" },
  { "context", "context" },
}

--- Before the rest of a longer line, which passes for no line so.
local CONTINUED = "↪ "

local PLAIN = {
  number = false,
  relativenumber = false,
  signcolumn = "no",
  foldcolumn = "0",
  list = false,
  wrap = false,
  linebreak = true,
  foldmethod = "manual",
  foldenable = false,
  winhighlight = "",
  breakindent = false,
  showbreak = "NONE",
  conceallevel = 0,
  winfixwidth = false,
  winfixheight = false,
  statusline = "",
}

--- Characters that are not seen, or change how others are seen: the daemon's list (`core/text/visible`).
local HIDDEN = {
  { 0, 8 }, { 11, 31 }, { 127, 160 }, { 0xad }, { 0x34f }, { 0x61c }, { 0x70f }, { 0x115f, 0x1160 }, { 0x1680 },
  { 0x17b4, 0x17b5 }, { 0x180b, 0x180f }, { 0x2000, 0x200f }, { 0x2028, 0x202f }, { 0x205f, 0x206f }, { 0x2800 },
  { 0x3000 }, { 0x3164 }, { 0xfe00, 0xfe0f }, { 0xfeff }, { 0xffa0 }, { 0xfff0, 0xfffc }, { 0x133fc },
  { 0x13430, 0x13455 }, { 0x16fe4 }, { 0x1bca0, 0x1bca3 }, { 0x1d159 }, { 0x1d173, 0x1d17a }, { 0xe0000, 0xe0fff },
}

--- Gives a window options of its own; what another one had, from which it was split, goes.
function M.dress(window, options)
  vim.api.nvim_win_call(window, function()
    for name, value in pairs(vim.tbl_extend("force", PLAIN, options)) do
      vim.api.nvim_set_option_value(name, value, { scope = "local" })
    end
  end)
end

--- Lets lines be all that a buffer holds.
local function fill(buffer, lines)
  vim.bo[buffer].modifiable = true
  -- A file's line may hold what no buffer's line can.
  local plain = vim.tbl_map(function(line)
    return (line:gsub("\n", " "))
  end, lines)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, plain)
  vim.bo[buffer].modifiable = false
end

local function scratch(name, filetype, lines)
  local full = "sidecar://" .. name
  local buffer = vim.fn.bufnr("^" .. full .. "$")
  if buffer < 0 then
    buffer = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buffer, full)
  end
  vim.bo[buffer].bufhidden = "hide"
  fill(buffer, lines)
  vim.bo[buffer].filetype = filetype
  return buffer
end

--- Gives what closes the tab that is shown.
local function closing()
  local tab = vim.api.nvim_get_current_tabpage()
  return function()
    if vim.api.nvim_tabpage_is_valid(tab) then
      vim.cmd("tabclose " .. vim.api.nvim_tabpage_get_number(tab))
    end
  end
end

--- Shows lines in a tab of their own, to be decided on; gives what closes it.
function M.preview(lines)
  local buffer = scratch("preview", "diff", lines)
  vim.cmd("tab sbuffer " .. buffer)
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  local statusline = " Sidecar: this would happen%= choose below "
  M.dress(0, { wrap = true, linebreak = false, showbreak = CONTINUED, statusline = statusline })
  vim.cmd("redraw")
  return closing()
end

--- Shows a buffer, with other lines if there are some, in the window that has it or a new one.
function M.show(buffer, lines)
  if lines then
    fill(buffer, lines)
  end
  local window = vim.fn.bufwinid(buffer)
  if window < 0 then
    vim.cmd("botright sbuffer " .. buffer)
    M.dress(0, {})
  else
    vim.api.nvim_set_current_win(window)
  end
  vim.keymap.set("n", "q", "<C-w>c", { buffer = buffer, desc = "Sidecar: close" })
end

local function show(name, filetype, lines)
  local buffer = scratch(name, filetype, lines)
  M.show(buffer)
  return buffer
end

function M.log(lines)
  show("log", "", #lines > 0 and lines or { "The daemon has not said anything." })
  vim.cmd("normal! G")
end

--- How many lines of the screen are free above these choices and a prompt.
function M.room(choices)
  return math.max(vim.o.lines - M.rows(choices, vim.o.columns - 4) - 7, 5)
end

--- Gives text with what is not seen, or changes how the rest is seen, written out.
function M.visible(text)
  local function spelt(letter)
    local code = vim.fn.char2nr(letter)
    for _, range in ipairs(HIDDEN) do
      if code >= range[1] and code <= (range[2] or range[1]) then
        return ("\\u{%x}"):format(code)
      end
    end
  end
  return (text:gsub("[%z\1-\8\11-\31\127]", spelt):gsub("[\194-\244][\128-\191]*", spelt))
end

--- Gives a text on one line, written out.
function M.line(text)
  return (M.visible(tostring(text)):gsub("\n", "\\n"))
end

--- Gives how a session is called.
function M.title(one)
  return one.title ~= "" and M.line(one.title) or "new session"
end

--- Gives the lines of a file that an edit would change, before and after, and the file's path; nil
--- for any other call, and for a file that is not there yet.
local function sides(call)
  local before, after, path = {}, {}, nil
  for _, block in ipairs(type(call.content) == "table" and call.content or {}) do
    if block.type ~= "diff" or not block.oldText or (path and block.path ~= path) then
      return nil
    end
    for lines, text in pairs({ [before] = block.oldText, [after] = block.newText }) do
      vim.list_extend(lines, path and { "⋯" } or {})
      vim.list_extend(lines, text == "" and {} or vim.split(M.visible(text):gsub("\n$", ""), "\n", { plain = true }))
      vim.list_extend(lines, (text == "" or text:sub(-1) == "\n") and {} or { "\\ No newline at end of file" })
    end
    path = block.path
  end
  local why = ((call._meta or {}).sidecar or {}).why
  for _, lines in ipairs(why and { before, after } or {}) do
    table.insert(lines, 1, "# " .. M.visible(why))
  end
  return before, after, path
end

local function about_call(call)
  local given = type(call.rawInput) == "table" and call.rawInput or {}
  local lines = {}
  for _, block in ipairs(type(call.content) == "table" and call.content or {}) do
    if block.type == "diff" then
      local diff = vim.diff(block.oldText or "", block.newText, { ctxlen = 3 })
      vim.list_extend(lines, vim.split("# " .. M.line(block.path) .. "\n" .. diff, "\n", { trimempty = true }))
    end
  end
  local why = ((call._meta or {}).sidecar or {}).why
  if why then
    table.insert(lines, 1, "# " .. why)
  end
  if #lines > (why and 1 or 0) then
    return lines
  end
  for _, name in ipairs(vim.fn.sort(vim.tbl_keys(given))) do
    local value = given[name]
    local text = type(value) == "string" and value or vim.json.encode(value)
    lines[#lines + 1] = "# " .. M.line(name) .. ":"
    -- No line of a value passes for a name.
    for _, line in ipairs(vim.split(text, "\n", { plain = true })) do
      lines[#lines + 1] = "  " .. line
    end
  end
  return lines
end

--- Gives how many rows lines take in a window of this width.
function M.rows(lines, width)
  local rows = 0
  for _, line in ipairs(lines) do
    rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / width))
  end
  return rows
end

--- Gives lines in pages, each of which is seen whole above these choices and a prompt.
function M.pages(lines, choices)
  local width = vim.o.columns - vim.fn.strdisplaywidth(CONTINUED)
  local most = M.room(choices)
  local pages, left = {}, 0
  for _, line in ipairs(lines) do
    -- A tab takes up to eight columns.
    local piece = M.rows({ line }, width) > most and math.floor(most * width / 8) or #line + 1
    for at = 0, math.max(vim.fn.strchars(line) - 1, 0), piece do
      local part = (at > 0 and CONTINUED or "") .. vim.fn.strcharpart(line, at, piece)
      local rows = M.rows({ part }, width)
      if rows > left then
        pages[#pages + 1], left = {}, most
      end
      table.insert(pages[#pages], part)
      left = left - rows
    end
  end
  return pages
end

--- Shows an edit in a tab of its own, before and after side by side; gives what closes it. Nothing
--- is shown and given where it is no edit, or some of it would not be seen above these choices.
function M.split(call, choices)
  local before, after, path = sides(call)
  if not path then
    return nil
  end
  local syntax = vim.fn.has("nvim-0.8") == 1 and vim.filetype.match({ filename = path }) or ""
  local fits = true
  for _, side in ipairs({ { "after", after, "tab" }, { "before", before, "leftabove vertical" } }) do
    local buffer = scratch(side[1], "", side[2])
    vim.bo[buffer].syntax = syntax
    vim.cmd(side[3] .. " sbuffer " .. buffer)
    vim.cmd("diffthis")
    local statusline = (" %s: %s"):format(side[1], M.line(path)):gsub("%%", "%%%%") .. "%= choose below "
    -- Nothing is folded: all of it is to be seen.
    M.dress(0, { wrap = true, linebreak = false, showbreak = CONTINUED, statusline = statusline })
  end
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! G$")
      vim.cmd("redraw")
      fits = fits and vim.fn.line("w0") == 1 and vim.fn.winline() <= M.room(choices)
      vim.cmd("normal! gg0")
    end)
  end
  local close = closing()
  if not fits then
    return close()
  end
  vim.cmd("redraw")
  return close
end

--- Gives what a call would do: its change as a diff, else its whole command and other input.
function M.call(call)
  return vim.tbl_map(M.visible, about_call(call))
end

--- What a compaction would leave out.
function M.plan(plan)
  local price = meter.money(plan.price)
  local gain = ("# %s → %s tokens"):format(meter.count(plan.tokensBefore), meter.count(plan.tokensAfter))
  local earned = plan.breakEvenRequests and ("# earned back after %d requests"):format(plan.breakEvenRequests)
  local lines = { gain .. (price and ", " .. price or ""), earned or "# never earned back" }
  if plan.asked then
    lines[#lines + 1] = "# summary: " .. plan.asked[1]
  end
  lines[#lines + 1] = ""
  for _, step in ipairs(plan.plan) do
    local from, to = meter.count(step.tokensBefore), meter.count(step.tokensAfter)
    lines[#lines + 1] = ("%-10s %6s → %-6s  %s"):format(step.action, from, to, step.reason)
  end
  return lines
end

--- Has a session of this folder chosen; `done(id)`.
function M.sessions(done)
  session.ask("session/list", { cwd = config.root() }, function(listed)
    local function line(one)
      return ("%s  %s  · %d turns"):format((one.updatedAt:sub(1, 16):gsub("T", " ")), M.title(one), one.turns)
    end
    local options = { prompt = "Sidecar: sessions of this folder", kind = "sidecar", format_item = line }
    vim.ui.select(listed.sessions, options, function(one)
      if one then
        done(one.sessionId)
      end
    end)
  end)
end

local function about(told)
  local next_cost, so_far = meter.money(told.cost.nextRequest), meter.money(told.cost.session)
  local cache = ("cache %s, %d%% read"):format(told.cache.warm and "warm" or "cold", told.cache.hitRate * 100)
  if told.cache.lastBreak then
    cache = ("%s; last break at %s: %s"):format(cache, told.cache.lastBreak.segment, told.cache.lastBreak.reason)
  end
  local turns = told.turnsUntilCompaction
  return {
    ("%s  %.1f%%  %s of %s tokens, %s"):format(
      meter.bar(told.percent / 100, 40),
      told.percent,
      meter.count(told.used),
      meter.count(meter.room(told)),
      told.zone
    ),
    ("%s: %s"):format(told.accuracy, told.reason),
    ("compacts at %s%s"):format(meter.count(told.compactAt), turns and (", in about %d turns"):format(turns) or ""),
    ("cost so far %s, next request %s"):format(so_far or "nothing or unknown", next_cost or "nothing or unknown"),
    cache,
    "",
  }
end

--- The MCP servers whose tools are in the context, the largest first.
local function servers(told)
  local by, names = told.toolsByServer, vim.tbl_keys(told.toolsByServer)
  table.sort(names, function(one, other)
    return by[one] > by[other] or (by[one] == by[other] and one < other)
  end)
  return names
end

local function drawn(told)
  local lines, parts = about(told.meter), {}
  for _, region in ipairs(REGIONS) do
    local tokens = told.meter.regions[region[1]] or 0
    if tokens > 0 then
      local share = tokens / math.max(told.meter.used, 1)
      lines[#lines + 1] = ("%-13s %7s  %s"):format(region[2], meter.count(tokens), meter.bar(share, 30))
    end
    for _, server in ipairs(region[1] == "tools" and servers(told.meter) or {}) do
      lines[#lines + 1] = ("  of %-8s %7s"):format(server, meter.count(told.meter.toolsByServer[server]))
    end
  end
  vim.list_extend(lines, { "", "What is sent, piece by piece. <CR> reads one, p pins it, P lets it go.", "" })
  local turn
  for _, piece in ipairs(told.segments) do
    if piece.turnId and piece.turnId ~= turn then
      turn = piece.turnId
      lines[#lines + 1] = "── turn " .. ("─"):rep(60)
    end
    local label = (piece.label:gsub("%s+", " "))
    local how = piece.presentation ~= "verbatim" and "  (" .. piece.presentation .. ")" or ""
    lines[#lines + 1] =
      ("%s %7s  %-13s %s%s"):format(piece.cached and "●" or "○", meter.count(piece.tokens), piece.region, label, how)
    parts[#lines] = piece.partId
  end
  return lines, parts
end

--- What fills the window.
function M.context()
  session.ask("context/breakdown", {}, function(told)
    session.metered(told.meter)
    local lines, parts = drawn(told)
    local buffer = show("context", "sidecar_context", lines)
    vim.cmd([[syntax match SidecarQuiet "░\+\|^── turn.*\|^○.*"]])
    vim.cmd([[syntax match SidecarTool "█\+"]])
    local function on(key, what, run)
      vim.keymap.set("n", key, function()
        local part = parts[vim.fn.line(".")]
        if part then
          run(part)
        end
      end, { buffer = buffer, desc = "Sidecar: " .. what })
    end
    on("<CR>", "read it", function(part)
      session.ask("context/recall", { partId = part }, function(found)
        M.preview(vim.split(found.content, "\n", { plain = true }))
      end)
    end)
    for key, pinned in pairs({ p = true, P = false }) do
      on(key, pinned and "pin" or "unpin", function(part)
        session.ask("context/pin", { partId = part, pinned = pinned }, M.context)
      end)
    end
  end)
end

return M
