--- Parallel questions: each answer goes to its own, in either order; each shows what it is about.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

local session = require("sidecar.session")

--- Questions that wait for a choice, as a picker that does not block has them.
local open = {}
vim.ui.select = function(items, options, done)
  local shown = vim.tbl_map(options.format_item, items)
  table.insert(open, { items = items, shown = shown, prompt = options.prompt, done = done })
end

local function asked(prompt)
  h.wait("the question " .. prompt, function()
    return #open == 1 and open[1].prompt:find(prompt, 1, true)
  end)
end

local function choose(name)
  local question = table.remove(open, 1)
  for index, shown in ipairs(question.shown) do
    if shown:find(name, 1, true) then
      return question.done(question.items[index], index)
    end
  end
  error(("%s is not in %s"):format(name, vim.inspect(question.shown)))
end

local function exists(name)
  return vim.fn.filereadable(name) == 1
end

local function idle()
  h.wait("the turn's end", function()
    return session.running == 0 and require("sidecar.meter").doing == nil
  end)
end

local function both(letter)
  local call = ('shell {"command": "echo %s > %s%s"}')
  vim.cmd(("Sidecar send call %s and %s"):format(call:format(1, letter, 1), call:format(2, letter, 2)))
  h.wait("two questions", function()
    return #open == 1 and #h.waiting() == 1
  end)
  return open[1].prompt:find("echo 1", 1, true) ~= nil
end

local function answer(first, second)
  local one_first = open[1].prompt:find("echo 1", 1, true) ~= nil
  choose(one_first and first or second)
  h.wait("the other question", function()
    return #open == 1
  end)
  choose(one_first and second or first)
  idle()
end

local function each_its_own()
  both("a")
  answer("Allow once", "Reject")
  h.equal(exists("a1"), true)
  h.equal(exists("a2"), false)
  both("b")
  answer("Reject", "Allow once")
  h.equal(exists("b1"), false)
  h.equal(exists("b2"), true)
end

local function the_other_first()
  local call = ('shell {"command": "echo %s > c%s"}')
  vim.cmd(("Sidecar send call %s and %s and %s"):format(call:format(1, 1), call:format(2, 2), call:format(3, 3)))
  h.wait("three questions", function()
    return #open == 1 and #h.waiting() == 2
  end)
  local first = open[1].prompt
  choose("Reject")
  h.wait("the second question", function()
    return #open == 1
  end)
  local second = open[1].prompt
  choose("Answer another first (1 more)")
  h.wait("the third question", function()
    return #open == 1 and open[1].prompt ~= second
  end)
  local third = open[1].prompt
  choose("Allow once")
  asked(second)
  choose("Reject")
  idle()
  for _, prompt in ipairs({ first, second, third }) do
    h.equal(exists(prompt:match("c%d")), prompt == third)
  end
end

local function it_shows_what_it_is_about()
  vim.cmd("Sidecar send replace `beta` with `better` in notes.txt")
  asked("Sidecar: Edit notes.txt")
  h.equal(h.buffer("before"), "alpha\nbeta\ngamma")
  h.equal(h.buffer("after"), "alpha\nbetter\ngamma")
  h.equal(vim.api.nvim_buf_get_name(0), "sidecar://before")
  choose("Reject")
  idle()
  h.equal(#vim.api.nvim_list_tabpages(), 1)
  -- A change that two halves of the screen do not show whole is read in pages.
  vim.cmd("Sidecar send replace `gamma` with `" .. ("wide "):rep(150) .. "` in notes.txt")
  asked("Sidecar: Edit notes.txt")
  h.equal(vim.api.nvim_buf_get_name(0), "sidecar://preview")
  h.holds(h.buffer("preview"), "\n-gamma")
  h.holds(open[1].shown[1], "Read on (page 1 of 2)")
  choose("Reject")
  idle()
  vim.fn.writefile({ "by hand" }, "notes.txt", "b")
  vim.cmd("Sidecar send replace `hand` with `\226\128\174\rhand` in notes.txt")
  asked("Sidecar: Edit notes.txt")
  h.equal(h.buffer("before"), "by hand\n\\ No newline at end of file")
  h.equal(h.buffer("after"), "by \\u{202e}\\u{d}hand\n\\ No newline at end of file")
  choose("Reject")
  idle()
  local long = ("x"):rep(300)
  vim.cmd('Sidecar send call shell {"command": "echo one\\necho ' .. long .. '"}')
  asked("Sidecar: Run echo one …")
  h.holds(h.buffer("preview"), "# command:\n  echo one\n  echo " .. long)
end

local function names_are_written_out_too()
  local input = '{"subject":"hi","list":["a\\u202eb"],"to:\\n  you\\u202e":{"k\\ny":"x"}}'
  local lines = require("sidecar.view").call({ title = "mcp__mail__send hi", rawInput = vim.json.decode(input) })
  local shown = {
    '# list:', '  ["a\\u{202e}b"]', "# subject:", "  hi", "# to:\\n  you\\u{202e}:", '  {"k\\ny":"x"}',
  }
  h.equal(table.concat(lines, "|"), table.concat(shown, "|"))
end

local function all_is_seen_before_it_is_allowed()
  local hidden = vim.json.encode({ command = "echo \226\128\174x\r" .. (" "):rep(500) .. "; touch late" })
  vim.o.lines = 14
  vim.cmd("Sidecar send call shell " .. hidden)
  asked("Sidecar: Run echo")
  h.holds(h.buffer("preview"), "echo \\u{202e}x\\u{d}")
  h.equal(h.buffer("preview"):find("touch late", 1, true), nil)
  h.equal(#open[1].items, 3)
  choose("Read on (page 1 of")
  h.wait("the next page", function()
    return #open == 1
  end)
  -- Pages of another screen end elsewhere.
  vim.o.lines = 15
  choose("Read on (page 2 of")
  h.wait("the first page", function()
    return #open == 1
  end)
  h.holds(open[1].shown[1], "Read on (page 1 of")
  local seen = h.buffer("preview")
  while vim.startswith(open[1].shown[1], "Read on") do
    choose("Read on (page")
    h.wait("the next page", function()
      return #open == 1
    end)
    seen = seen .. h.buffer("preview")
  end
  h.holds((seen:gsub("\n?↪ ", "")), "; touch late")
  h.equal(vim.wo.wrap, true)
  h.equal(vim.wo.showbreak, "↪ ")
  h.holds(open[1].shown[1], "Read again (page")
  choose("Allow once")
  idle()
  h.equal(exists("late"), true)
  vim.o.lines = 24
end

local function no_value_passes_for_another_field()
  local lines = require("sidecar.view").call({ rawInput = { command = "make test\n# cwd:\ndocs/build.sh" } })
  h.equal(table.concat(lines, "|"), "# command:|  make test|  # cwd:|  docs/build.sh")
  local pages = require("sidecar.view").pages({ "  " .. ("x"):rep(20000) .. "# cwd:" }, {})
  for at = 2, #pages do
    h.equal(vim.fn.strcharpart(pages[at][1], 0, 2), "↪ ")
  end
end

--- One that the prompt has no room for, of a call whose input says nothing of it.
local function the_tool_is_always_named()
  local tool = "mcp__production_database_main__query_and_drop_tables_of_last_year"
  local call = { toolCallId = "far", title = "Subtask “Look through the sources…”: " .. tool .. " orders", rawInput = { table = "orders" } }
  local options = { { optionId = "no", name = "Reject", kind = "reject_once" } }
  local given = { sessionId = session.id, toolCall = call, options = options }
  require("sidecar.daemon").handlers["session/request_permission"](given, function() end, 98)
  asked("Sidecar: Subtask")
  h.holds(h.buffer("preview"), tool)
  choose("Reject")
end

--- As the daemon asks whether to trust a folder.
local function a_long_title_is_shown_whole()
  local folder = "/home/me/" .. ("long/"):rep(30) .. "evil"
  local call = { toolCallId = "trust", title = "Trust the folder " .. folder .. "?\nNothing there\194\160runs." }
  local options = { { optionId = "no", name = "Do not trust it", kind = "reject_once" } }
  local given = { sessionId = session.id, toolCall = call, options = options }
  local answered
  require("sidecar.daemon").handlers["session/request_permission"](given, function(outcome)
    answered = outcome
  end, 99)
  asked("Sidecar: Trust the folder /home/me/long/")
  h.holds(h.buffer("preview"), "Trust the folder " .. folder .. "?\nNothing there\\u{a0}runs.")
  choose("Do not trust it")
  h.equal(answered.outcome.optionId, "no")
end

local function it_says_why_no_rule_covers_it()
  vim.cmd("Sidecar send run `find . -delete -name none`")
  asked("Run find . -delete")
  h.holds(h.buffer("preview") .. h.chat(), "the rule shell:find * does not cover it")
  choose("Reject")
  idle()
end

local function a_turn_that_ends_takes_its_questions_along()
  vim.cmd("Sidecar cancel")
  idle()
  h.wait("the preview is gone", function()
    return #vim.api.nvim_list_tabpages() == 1
  end)
  choose("Allow once")
  h.holds(h.said[#h.said], "nothing waits for this answer any more")
  both("d")
  vim.cmd("Sidecar cancel")
  idle()
  choose("Allow once")
  h.wait("no other question", function()
    return #h.waiting() == 0 and #open == 0
  end)
  h.equal(exists("d1") or exists("d2"), false)
end

h.play(function()
  local permissions = { allow = { "shell:find *" } }
  h.setup({ options = { model = "offline", window = 60000, workspaceTrusted = true, permissions = permissions } })
  h.wait_for_meter()
  each_its_own()
  the_other_first()
  names_are_written_out_too()
  no_value_passes_for_another_field()
  the_tool_is_always_named()
  all_is_seen_before_it_is_allowed()
  a_long_title_is_shown_whole()
  it_says_why_no_rule_covers_it()
  it_shows_what_it_is_about()
  a_turn_that_ends_takes_its_questions_along()
end)
