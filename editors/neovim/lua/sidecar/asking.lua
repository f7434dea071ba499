--- What the daemon asks a person, one question at a time; and where what it tells goes.
local chat = require("sidecar.chat")
local daemon = require("sidecar.daemon")
local meter = require("sidecar.meter")
local session = require("sidecar.session")
local view = require("sidecar.view")

local M = {}

--- Questions that wait, the oldest first, and the one that is asked now; one whose request was
--- cancelled, or whose daemon died, is not asked any more.
local queue, asked, asking = {}, nil, false
local LATER, MORE = {}, {}
local TOGETHER = 50
--- Milliseconds in which keys are no answer: they were typed before the question was seen.
local SETTLED = 500
--- Letters of a title that name a tool, behind its subtask's name.
local NAMED = 120

local function drop_keys()
  while vim.fn.getchar(0) ~= 0 do
  end
  return false
end

--- Waits until a question can have been seen. Ctrl-C, too, is a key that was typed before.
local function settle()
  local until_then = vim.loop.now() + SETTLED
  repeat
    vim.loop.update_time()
    pcall(vim.wait, math.max(until_then - vim.loop.now(), 0), drop_keys, 20)
    vim.loop.update_time()
  until vim.loop.now() >= until_then
end

local function next_question()
  if vim.api.nvim_get_mode().mode:find("^[icRtsS\19]") then
    -- What someone is typing, in a terminal too, must not be taken for an answer.
    meter.doing = "asks, when you have left this mode"
    vim.cmd("redrawstatus!")
    local options = { once = true, callback = vim.schedule_wrap(next_question) }
    vim.api.nvim_create_autocmd("ModeChanged", options)
    return
  end
  meter.doing = nil
  local question = table.remove(queue, 1)
  while question and question.pid ~= daemon.pid() do
    question = table.remove(queue, 1)
  end
  asked, asking = question, question ~= nil
  if not question then
    return
  end
  question.before()
  vim.cmd("redraw")
  settle()
  if question.withdrawn or question.pid ~= daemon.pid() then
    asked = nil
    question.after()
    return vim.schedule(next_question)
  end
  local function format(item)
    return item == LATER and ("Answer another first (%d more)"):format(#queue) or question.format(item)
  end
  local items = vim.list_extend(vim.list_slice(question.items), #queue > 0 and { LATER } or {})
  local options = { prompt = question.prompt, kind = "sidecar", format_item = format }
  local answered = false
  local function choose(item)
    asked, answered = nil, true
    question.after()
    if question.withdrawn then
      session.say("nothing waits for this answer any more")
    elseif item == LATER then
      queue[#queue + 1] = question
    else
      question.done(item)
    end
    -- A picker may still be closing its window.
    vim.schedule(next_question)
  end
  local ok, why = pcall(vim.ui.select, items, options, choose)
  if not ok then
    if answered then
      error(why, 0)
    end
    -- As by Ctrl-C: nothing is chosen, and what waits is asked next.
    choose(nil)
  end
end

local function ask(question)
  question.pid = daemon.pid()
  queue[#queue + 1] = question
  if not asking then
    asking = true
    -- Parallel calls are asked about together: it is known by then how many wait.
    vim.defer_fn(next_question, TOGETHER)
  end
end

--- Gives what a call is about, on one line of the screen, and what that leaves out: of a call whose
--- input is shown, how its title begins, which says of which tool.
local function titled(call)
  local lines = vim.tbl_map(view.visible, vim.split(call.title or "May it run?", "\n"))
  local room, has_input = vim.o.columns - 12, type(call.rawInput) == "table"
  if vim.fn.strdisplaywidth(lines[1]) > room then
    local cut = vim.fn.strcharpart(lines[1], 0, math.floor(room / 2)) .. " …"
    return cut, has_input and { "# " .. vim.fn.strcharpart(lines[1], 0, NAMED) } or lines
  end
  local more = #lines > 1
  return more and lines[1] .. " …" or lines[1], more and not has_input and lines or {}
end

--- Names another session than the one that is shown, and its folder, before a question's prompt.
local function named_session(question, params)
  if params.sessionId == session.id then
    return
  end
  local prompt = question.prompt
  question.prompt = view.visible(params.sessionId) .. ": " .. prompt
  daemon.request("session/list", {}, function(listed)
    for _, one in ipairs(listed and listed.sessions or {}) do
      if one.sessionId == params.sessionId then
        question.prompt = ("“%s” in %s: %s"):format(view.title(one), view.line(one.cwd), prompt)
      end
    end
  end)
end

local function permission(params, answer, id)
  local call, page, pages, size = params.toolCall, 1, {}, nil
  local title, cut = titled(call)
  local close
  local function named(option)
    return view.visible(option.name)
  end
  local question = {
    id = id,
    prompt = "Sidecar: " .. title,
    after = function()
      chat.waiting(call, nil)
      close = close and close()
    end,
  }
  function question.before()
    local lines = vim.list_extend(vim.list_slice(cut), view.call(call))
    local names = vim.tbl_map(named, params.options)
    local seen = chat.waiting(call, lines, view.room(names)) or #lines == 0
    close = view.split(call, names)
    pages = (seen or close) and {} or view.pages(lines, names)
    if size ~= vim.o.columns .. "x" .. vim.o.lines then
      -- Pages of another screen end elsewhere.
      page, size = 1, vim.o.columns .. "x" .. vim.o.lines
    end
    question.items = vim.tbl_filter(function(option)
      -- What is allowed has been seen whole.
      return page >= #pages or vim.startswith(option.kind, "reject")
    end, params.options)
    if #pages > 1 then
      -- On the last page, too: whoever turns pages by one key allows nothing by it.
      table.insert(question.items, 1, MORE)
    end
    function question.format(option)
      local turn = page < #pages and "Read on (page %d of %d)" or "Read again (page %d of %d)"
      return option == MORE and turn:format(page, #pages) or named(option)
    end
    close = close or pages[page] and view.preview(pages[page])
  end
  function question.done(option)
    if option == MORE then
      page = page % #pages + 1
      return table.insert(queue, 1, question)
    end
    local outcome = option and { outcome = "selected", optionId = option.optionId } or { outcome = "cancelled" }
    answer({ outcome = outcome })
  end
  named_session(question, params)
  ask(question)
end

local function message_request(params, answer)
  ask({
    prompt = params.message,
    items = params.actions or {},
    format = function(action)
      return action.title
    end,
    before = function() end,
    after = function() end,
    done = answer,
  })
end

--- Gives the questions that are behind the one that is asked now.
function M.waiting()
  return queue
end

local LEVELS = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO, vim.log.levels.DEBUG }

function M.setup()
  local handlers = daemon.handlers
  handlers["session/request_permission"] = permission
  handlers["window/showMessageRequest"] = message_request
  handlers["window/showMessage"] = function(params)
    session.say(params.message, LEVELS[params.type])
  end
  handlers["window/logMessage"] = function(params)
    table.insert(daemon.log, params.message)
  end
  handlers["window/workDoneProgress/create"] = function(_, answer)
    answer()
  end
  handlers["client/registerCapability"] = handlers["window/workDoneProgress/create"]
  handlers["$/progress"] = meter.progress
  handlers["$/cancelRequest"] = function(params)
    queue = vim.tbl_filter(function(question)
      return question.id ~= params.id
    end, queue)
    if asked and asked.id == params.id then
      asked.withdrawn = true
      asked.after()
    end
  end
  handlers["session/update"] = chat.update
  handlers["session/retrying"] = function(params)
    chat.withdraw(params.discard)
    local text = "trying again in %d s, %d of %d: %s"
    local seconds = math.ceil(params.delayMs / 1000)
    chat.note(
      text:format(seconds, params.attempt, params.maxAttempts, params.error.message),
      "SidecarNotice"
    )
  end
  handlers["context/meterChanged"] = session.metered
end

return M
