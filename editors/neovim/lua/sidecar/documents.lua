--- Open buffers take part: the daemon knows their unsaved text and edits them through their undo.
local daemon = require("sidecar.daemon")

local M = {}

local IDLE = 150
--- Buffer number → {uri, real, lines, version}: what the daemon has been told.
local known = {}
local scheduled, saving = false, false

local function ending(buffer)
  return ({ dos = "\r\n", mac = "\r" })[vim.bo[buffer].fileformat] or "\n"
end

--- The buffer as its file has it, or would have it: lines with their ends.
local function lines_of(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  if #lines == 1 and lines[1] == "" then
    return {}
  end
  local stop = ending(buffer)
  -- Neovim ends the last line when it saves.
  local saved = known[buffer] and known[buffer].saved and vim.bo[buffer].fixendofline
  local open_end = not vim.bo[buffer].endofline and not saved
  for i = 1, open_end and #lines - 1 or #lines do
    lines[i] = lines[i] .. stop
  end
  return lines
end

--- How many elements two lists share at the start and, behind that, at the end.
local function shared(a, b)
  local first, last, least = 0, 0, math.min(#a, #b)
  while first < least and a[first + 1] == b[first + 1] do
    first = first + 1
  end
  while last < least - first and a[#a - last] == b[#b - last] do
    last = last + 1
  end
  return first, last
end

local function takes_part(buffer)
  local bo = vim.bo[buffer]
  return vim.api.nvim_buf_is_loaded(buffer)
    and bo.buftype == ""
    and not bo.binary
    and not bo.bomb
    and (bo.fileencoding == "" or bo.fileencoding == "utf-8")
    and vim.api.nvim_buf_get_name(buffer) ~= ""
end

local function tell(buffer)
  local document = known[buffer]
  local before, after = document.lines, lines_of(buffer)
  local first, last = shared(before, after)
  if first == #before and first == #after then
    return
  end
  document.lines, document.version = after, document.version + 1
  local change = { text = table.concat(after, "", first + 1, #after - last) }
  if #before > 0 and before[#before]:sub(-1) == "\n" then
    change.range = { start = { line = first, character = 0 }, ["end"] = { line = #before - last, character = 0 } }
  else
    change.text = table.concat(after)
  end
  daemon.notify("textDocument/didChange", {
    textDocument = { uri = document.uri, version = document.version },
    contentChanges = { change },
  })
end

--- Tells the daemon what was typed since; everything that depends on it calls this first.
function M.flush()
  scheduled = false
  for buffer in pairs(known) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      tell(buffer)
    end
  end
end

local function soon()
  if not scheduled then
    scheduled = true
    vim.defer_fn(M.flush, IDLE)
  end
end

local function closed(buffer)
  local document = known[buffer]
  known[buffer] = nil
  if document then
    daemon.notify("textDocument/didClose", { textDocument = { uri = document.uri } })
  end
end

local function opened(buffer)
  if known[buffer] or daemon.state ~= "ready" or not takes_part(buffer) then
    return
  end
  local name = vim.api.nvim_buf_get_name(buffer)
  local uri, lines = vim.uri_from_fname(name), lines_of(buffer)
  known[buffer] = { uri = uri, real = vim.loop.fs_realpath(name) or name, lines = lines, version = 0 }
  daemon.notify("textDocument/didOpen", {
    textDocument = { uri = uri, languageId = vim.bo[buffer].filetype, version = 0, text = table.concat(lines) },
  })
  local document = known[buffer]
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = function()
      soon()
      return known[buffer] ~= document
    end,
    on_reload = soon,
    on_detach = function()
      if known[buffer] == document then
        closed(buffer)
      end
    end,
  })
end

--- Tells a daemon that has just started of all that is open.
function M.open_all()
  known = {}
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    opened(buffer)
  end
end

local function on_disk(path)
  local file = io.open(path, "rb")
  local text = file and file:read("*a")
  return text, file and file:close()
end

local function same_on_disk(buffer)
  return (on_disk(vim.api.nvim_buf_get_name(buffer))) == table.concat(lines_of(buffer))
end

local function save(buffer)
  vim.api.nvim_buf_call(buffer, function()
    -- What formats on saving would change what the agent has just written.
    pcall(vim.cmd, "silent noautocmd keepalt write!")
    saving = true
    pcall(vim.api.nvim_exec_autocmds, "BufWritePost", { buffer = buffer, modeline = false })
    saving = false
  end)
end

--- Replaces only the lines that differ, so that cursor, marks and folds stay; one step to undo.
local function replace(buffer, text)
  vim.api.nvim_buf_call(buffer, function()
    vim.cmd("let &l:undolevels = &l:undolevels")
  end)
  local after = vim.split(text, ending(buffer), { plain = true })
  if after[#after] == "" then
    after[#after] = nil
  end
  local before = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)
  local first, last = shared(before, after)
  vim.api.nvim_buf_set_lines(buffer, first, #before - last, false, vim.list_slice(after, first + 1, #after - last))
end

local function reread(buffer)
  pcall(vim.cmd, "silent! checktime " .. buffer)
  local text = not vim.bo[buffer].modified and vim.o.autoread and on_disk(vim.api.nvim_buf_get_name(buffer))
  -- Neovim 0.7 does not see a change that comes within a second of its own.
  if text and not text:find("\0", 1, true) and text ~= table.concat(lines_of(buffer)) then
    replace(buffer, text)
    save(buffer)
  end
end

--- Notices what was changed on disk, and tells the daemon.
function M.check_disk()
  for buffer in pairs(known) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      reread(buffer)
    end
  end
  M.flush()
end

local function edit(buffer, edits)
  local clean = not vim.bo[buffer].modified
  if clean then
    -- What was restored is on disk already.
    local auto = vim.o.autoread
    vim.o.autoread = true
    reread(buffer)
    vim.o.autoread = auto
  end
  local saved = clean and same_on_disk(buffer)
  local whole = #edits == 1 and edits[1].range.start.line == 0 and edits[1].range.start.character == 0
  if not whole or edits[1].range["end"].line < vim.api.nvim_buf_line_count(buffer) then
    vim.lsp.util.apply_text_edits(edits, buffer, "utf-16")
  elseif edits[1].newText ~= table.concat(lines_of(buffer)) then
    replace(buffer, edits[1].newText)
  end
  -- A buffer without unsaved changes stays so.
  if saved and vim.bo[buffer].modified then
    save(buffer)
  end
  tell(buffer)
end

local function apply(params, answer)
  local meant = {}
  for uri, edits in pairs(params.edit.changes or {}) do
    local path = vim.uri_to_fname(uri)
    for buffer, document in pairs(known) do
      if (document.real == path or document.uri == uri) and vim.bo[buffer].modifiable then
        meant[uri] = { buffer, edits }
      end
    end
    if not meant[uri] then
      return answer({ applied = false, failureReason = path .. " is not open, or cannot be changed" })
    end
  end
  for _, found in pairs(meant) do
    edit(unpack(found))
  end
  answer({ applied = true })
end

--- Paths of what is shown in windows, the current one first.
function M.shown()
  local paths, seen = {}, {}
  for _, window in ipairs({ vim.api.nvim_get_current_win(), unpack(vim.api.nvim_list_wins()) }) do
    local document = known[vim.api.nvim_win_get_buf(window)]
    if document and not seen[document] then
      seen[document] = true
      paths[#paths + 1] = document.real
    end
  end
  return paths
end

function M.setup()
  daemon.handlers["workspace/applyEdit"] = apply
  local group = vim.api.nvim_create_augroup("sidecar_documents", {})
  local function on(events, run)
    vim.api.nvim_create_autocmd(events, {
      group = group,
      callback = function(event)
        run(event.buf)
      end,
    })
  end
  on({ "BufReadPost", "BufNewFile" }, opened)
  on("BufFilePost", function(buffer)
    closed(buffer)
    opened(buffer)
  end)
  on("BufWritePost", function(buffer)
    opened(buffer)
    if known[buffer] then
      known[buffer].saved = true
      tell(buffer)
    end
    -- What is saved for the agent is not the user's work.
    if known[buffer] and not saving then
      daemon.notify("textDocument/didSave", { textDocument = { uri = known[buffer].uri } })
    end
  end)
end

return M
