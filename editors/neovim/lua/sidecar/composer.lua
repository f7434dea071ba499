--- What is typed below the chat: files are completed behind `@`, commands behind `/`.
local daemon = require("sidecar.daemon")
local session = require("sidecar.session")

local M = {}

local space = vim.api.nvim_create_namespace("sidecar_composer")
--- A search for files is under way.
local finding = false
--- What the list was last offered for, what is wrong, and what the user's 'completeopt' was.
local offered, told, before

--- These say what is typed anyway.
local UNSLASHED = { chat = true, send = true }
--- After these, words may stand.
local TAKE = { new = true, compact = true, export = true, handoff = true, rename = true, search = true, set = true }
TAKE.sync, TAKE.elsewhere = true, true

local function names()
  local found = vim.tbl_filter(function(name)
    return not UNSLASHED[name]
  end, vim.tbl_keys(require("sidecar.commands").commands))
  table.sort(found)
  return found
end

--- Runs a text that is a `/command`. Gives whether it did and, where there is no such command, what
--- is wrong; a path is no command.
function M.run(text)
  local name, words = (vim.trim(text) .. " "):match("^/([%w_-]*)%s+(.*)$")
  if not name then
    return false
  end
  name, words = name:lower(), vim.trim(words)
  local known = vim.tbl_contains(names(), name)
  if known and (words == "" or TAKE[name]) then
    require("sidecar.commands").run({ args = name .. " " .. words, range = 0 })
    return true
  end
  local near = vim.fn.matchfuzzy(names(), name)[1]
  local meant = near and ("; /%s may be meant"):format(near) or ""
  return false, (known and "/%s takes no words after it" or "there is no command /%s" .. meant):format(name)
end

local function lines_of(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n")
end

--- Says below what is typed what is wrong with it, until it is changed: a message would be gone at
--- once in Insert mode.
function M.tell(buffer, wrong)
  local lines = { { { wrong, "SidecarNotice" } }, { { ":Sidecar! send sends it as text", "SidecarQuiet" } } }
  told = lines_of(buffer)
  vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
  vim.api.nvim_buf_set_extmark(buffer, space, vim.api.nvim_buf_line_count(buffer) - 1, 0, { virt_lines = lines })
end

--- What of the line stands before the cursor in the window below the chat; nil elsewhere.
local function typed(buffer)
  if vim.api.nvim_get_current_buf() == buffer and vim.fn.mode() == "i" then
    return vim.api.nvim_get_current_line():sub(1, vim.fn.col(".") - 1)
  end
end

local function offer(column, items)
  if #items > 0 then
    vim.fn.complete(column, items)
  elseif vim.fn.pumvisible() == 1 then
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<C-e>", true, false, true), "n", false)
  end
end

local function slashes(name)
  local found = vim.tbl_filter(function(one)
    return vim.startswith(one, name:lower()) and one ~= name
  end, names())
  return vim.tbl_map(function(one)
    return { word = "/" .. one .. (TAKE[one] and " " or ""), abbr = "/" .. one }
  end, found)
end

--- Without the daemon's order, Vim would take out what does not begin as typed.
local function mention(path)
  return { word = path:find("%s") and ('@"%s" '):format(path) or "@" .. path .. " ", abbr = path, equal = 1 }
end

local function suggest(buffer)
  local text = typed(buffer) or ""
  -- A list that opens counts as a change.
  if text == offered and vim.fn.pumvisible() == 1 then
    return
  end
  offered = text
  local name = vim.fn.line(".") == 1 and text:match("^/([%w_-]*)$")
  -- Vim itself narrows an open list.
  if name and vim.fn.pumvisible() == 0 then
    return offer(1, slashes(name))
  end
  local lead, query = (" " .. text):match("^(.*[%s(])@([^%s@\"]*)$")
  if not lead or finding or not session.id then
    return
  end
  finding = true
  daemon.request("session/findFiles", { sessionId = session.id, query = query }, function(result)
    finding = false
    if typed(buffer) == text then
      offer(#lead, vim.tbl_map(mention, result and result.files or {}))
    else
      suggest(buffer)
    end
  end)
end

--- Completes in a buffer while it is typed in, and by |i_CTRL-X_CTRL-U|.
function M.attach(buffer)
  local function on(events, run)
    vim.api.nvim_create_autocmd(events, { buffer = buffer, callback = run })
  end
  on({ "TextChanged", "TextChangedI", "TextChangedP" }, function()
    if lines_of(buffer) ~= told then
      vim.api.nvim_buf_clear_namespace(buffer, space, 0, -1)
    end
    suggest(buffer)
  end)
  on("BufEnter", function()
    before = before or vim.o.completeopt
    vim.o.completeopt = "menuone,noinsert"
  end)
  on("BufLeave", function()
    vim.o.completeopt, before = before or vim.o.completeopt, nil
  end)
  vim.bo[buffer].completefunc = "v:lua.require'sidecar.composer'.again"
end

--- For 'completefunc': files come when the daemon has found them.
function M.again()
  local buffer = vim.api.nvim_get_current_buf()
  vim.schedule(function()
    suggest(buffer)
  end)
  return -2
end

return M
