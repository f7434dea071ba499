--- What the daemon asks a person, one question at a time; and where what it tells goes.
local chat = require("sidecar.chat")
local daemon = require("sidecar.daemon")
local meter = require("sidecar.meter")
local session = require("sidecar.session")

local M = {}

--- Questions that wait, the oldest first; one whose request was cancelled is not asked any more.
local queue, asking = {}, false

local function next_question()
  if vim.api.nvim_get_mode().mode:find("^[icR]") then
    -- What someone is typing must not be taken for an answer.
    meter.doing = "asks, when you have left this mode"
    vim.cmd("redrawstatus!")
    local options = { once = true, callback = vim.schedule_wrap(next_question) }
    vim.api.nvim_create_autocmd({ "InsertLeave", "CmdlineLeave" }, options)
    return
  end
  meter.doing = nil
  local question = table.remove(queue, 1)
  asking = question ~= nil
  if not question then
    return
  end
  question.before()
  vim.cmd("redraw")
  local options = { prompt = question.prompt, kind = "sidecar", format_item = question.format }
  vim.ui.select(question.items, options, function(item)
    question.done(item)
    -- A picker may still be closing its window.
    vim.schedule(next_question)
  end)
end

local function ask(question)
  queue[#queue + 1] = question
  if not asking then
    asking = true
    vim.schedule(next_question)
  end
end

local function permission(params, answer, id)
  local call = params.toolCall
  ask({
    id = id,
    prompt = ("Sidecar: %s"):format(call.title or "May it run?"),
    items = params.options,
    format = function(option)
      return option.name
    end,
    before = function()
      chat.waiting(call, true)
    end,
    done = function(option)
      chat.waiting(call, false)
      local outcome = option and { outcome = "selected", optionId = option.optionId } or { outcome = "cancelled" }
      answer({ outcome = outcome })
    end,
  })
end

local function message_request(params, answer)
  ask({
    prompt = params.message,
    items = params.actions or {},
    format = function(action)
      return action.title
    end,
    before = function() end,
    done = answer,
  })
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
  end
  handlers["session/update"] = chat.update
  handlers["session/retrying"] = function(params)
    chat.withdraw(params.discard)
    local text = "trying again, %d of %d: %s"
    chat.note(text:format(params.attempt, params.maxAttempts, params.error.message), "SidecarNotice")
  end
  handlers["context/meterChanged"] = session.metered
end

return M
