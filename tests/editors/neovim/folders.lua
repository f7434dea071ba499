--- Which session asks, where another is shown; and the folder stays, wherever Neovim goes.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

local daemon = require("sidecar.daemon")
local session = require("sidecar.session")
local folder = vim.fn.getcwd()

--- Questions that wait for a choice, as a picker that does not block has them.
local open = {}
vim.ui.select = function(items, options, done)
  table.insert(open, { items = items, format = options.format_item, prompt = options.prompt, done = done })
end

local function asked(prompt)
  h.wait("the question " .. prompt, function()
    return open[1] and open[1].prompt:find(prompt, 1, true)
  end)
end

local function choose(name)
  local question = table.remove(open, 1)
  for _, item in ipairs(question.items) do
    if question.format(item):find(name, 1, true) then
      return question.done(item)
    end
  end
  error(("%s is not in %s"):format(name, vim.inspect(question.items)))
end

local function listed(cwd)
  local found
  daemon.request("session/list", { cwd = cwd }, function(result)
    found = result.sessions
  end)
  h.wait("the sessions of " .. cwd, function()
    return found
  end)
  return found
end

local function another()
  local before = session.id
  vim.cmd("Sidecar new")
  h.wait("another session", function()
    return session.id ~= before
  end)
  vim.cmd("stopinsert")
end

local function a_question_of_another_session_names_it()
  vim.cmd("Sidecar rename Two \226\128\174commands")
  h.wait("the title", function()
    return session.title:find("commands", 1, true)
  end)
  h.holds(require("sidecar.chat").winline(), "Two \\u{202e}commands")
  vim.cmd("Sidecar send run `echo 1 > one` then run `echo 2 > two`")
  asked("Sidecar: Run echo 1")
  another()
  choose("Allow once")
  asked("“Two \\u{202e}commands” in " .. folder .. ": Sidecar: Run echo 2")
  choose("Reject")
  h.equal(vim.fn.filereadable("one"), 1)
  vim.cmd("Sidecar sessions")
  asked("sessions of this folder")
  local shown = table.concat(vim.tbl_map(open[1].format, open[1].items), "\n")
  h.holds(shown, "Two \\u{202e}commands")
  table.remove(open, 1)
end

local function the_folder_stays()
  vim.fn.mkdir("sub")
  vim.cmd("cd sub")
  local before = #listed(folder)
  another()
  h.equal(#listed(folder), before + 1)
  h.equal(#listed(folder .. "/sub"), 0)
  h.equal(require("sidecar.config").root(), folder)
end

--- Renames a session, and gives whether this Neovim is told of it.
local function hears_of(id)
  local told, renamed = false, false
  local update = daemon.handlers["session/update"]
  daemon.handlers["session/update"] = function(params)
    told = told or params.sessionId == id
  end
  daemon.request("session/rename", { sessionId = id, title = "Another title" }, function(_, err)
    renamed = not err
  end)
  h.wait("another title", function()
    return renamed
  end)
  daemon.handlers["session/update"] = update
  return told
end

local function a_session_that_was_left_while_it_came_is_let_go_of()
  local left, ended = session.id, 0
  another()
  local kept = session.id
  session.open(left, function()
    ended = ended + 1
  end)
  session.open(kept, function(problem)
    assert(not problem and session.id == kept, "another session is open")
    ended = ended + 1
  end)
  h.wait("the session that was opened last", function()
    return ended > 0
  end)
  h.equal(hears_of(kept), true)
  local tries = 0
  repeat
    tries = tries + 1
  until not hears_of(left) or tries == 50
  assert(tries < 50, "the session that was left is open")
  h.equal(ended, 1)
end

h.play(function()
  h.setup({ options = { model = "offline", workspaceTrusted = true } })
  h.wait_for_meter()
  a_question_of_another_session_names_it()
  the_folder_stays()
  a_session_that_was_left_while_it_came_is_let_go_of()
end)
