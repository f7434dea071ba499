--- A user's day, first part: a new session until Neovim is left.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

local function meter_is_seen()
  h.setup()
  h.wait_for_meter()
  h.holds(require("sidecar").statusline(), "%#SidecarGreen#")
  h.holds(vim.api.nvim_eval_statusline(vim.o.statusline, {}).str, h.percent() .. "% · ")
end

local function components_and_maps_are_there()
  local sidecar = require("sidecar")
  h.equal(vim.api.nvim_eval_statusline(sidecar.text(), {}).str, require("sidecar.meter").text())
  h.equal(sidecar.highlight(), "SidecarGreen")
  for _, name in ipairs(vim.fn.getcompletion("Sidecar ", "cmdline")) do
    for _, mode in ipairs(name == "set" and {} or { "n", "x", "i" }) do
      h.holds(vim.fn.maparg("<Plug>(sidecar-" .. name .. ")", mode), "Sidecar " .. name .. "<CR>")
    end
  end
end

local function turn_streams_and_edits_an_open_buffer()
  vim.cmd("edit main.py")
  local main = vim.fn.bufnr()
  local begun = false
  vim.cmd("Sidecar chat")
  vim.api.nvim_buf_attach(vim.fn.bufnr("sidecar://chat"), false, {
    on_lines = function()
      local text = h.chat()
      begun = begun or text:find("I am", 1, true) and not text:find("on main.py.", 1, true)
      begun = begun or text:find("Done.", 1, true) and not text:find("- todo: [ ] one", 1, true)
    end,
  })
  local before = h.percent()
  h.choose("Allow once")
  h.turn("read main.py then replace `Hello` with `Good day` in main.py then run `echo shell-ran` then todo: one; two")
  h.equal(h.asked[1].prompt, "Sidecar: Edit main.py")
  assert(begun, "it did not stream")
  assert(h.percent() > before, "the meter did not move")
  for _, part in ipairs({ "❯ read main.py", "✓ Read main.py", "✓ Edit main.py  +1 -1", "✓ Run echo", "  ☐ one" }) do
    h.holds(h.chat(), part)
  end
  h.holds(h.text("main.py"), "Good day, ")
  h.equal(h.read("main.py"), h.text("main.py"))
  h.equal(vim.bo[main].modified, false)
  -- Its own undo takes it back, and knows that the file has something else now.
  vim.api.nvim_buf_call(main, function()
    vim.cmd("silent undo")
    h.holds(h.text("main.py"), "Hello, ")
    h.equal(vim.bo.modified, true)
    vim.cmd("silent redo")
    h.equal(vim.bo.modified, false)
  end)
end

local function thinking_and_output_are_folded()
  local window = vim.fn.bufwinid("sidecar://chat")
  local folded = {}
  vim.api.nvim_win_call(window, function()
    for line = 1, vim.fn.line("$") do
      folded[vim.fn.getline(line)] = vim.fn.foldclosed(line) > 0
    end
  end)
  h.equal(folded["✓ Edit main.py  +1 -1"], true)
  h.equal(folded["    +    return \"Good day, \" + name"], true)
  h.equal(folded["  ☐ one"], false)
end

local function unsaved_text_counts()
  vim.cmd("edit notes.txt")
  vim.api.nvim_buf_set_lines(0, 1, 2, false, { "unsaved words" })
  h.turn("read notes.txt")
  h.holds(h.chat(), "    unsaved words")
  h.choose("Always allow this tool")
  h.turn("replace `gamma` with `delta` in notes.txt")
  h.equal(h.text("notes.txt"), "alpha\nunsaved words\ndelta\n")
  h.equal(h.read("notes.txt"), "alpha\nbeta\ngamma\n")
  h.equal(vim.bo[vim.fn.bufnr("notes.txt")].modified, true)
  vim.cmd("buffer notes.txt | write")
  -- What a command changes on disk is seen too.
  h.turn("run `sed -i s/alpha/omega/ notes.txt`")
  h.equal(h.text("notes.txt"), "omega\nunsaved words\ndelta\n")
end

local function compaction_and_back()
  for _ = 1, 3 do
    h.turn("read long.txt")
  end
  local before = h.percent()
  h.choose("Compact now")
  vim.cmd("Sidecar compact keep the names")
  h.wait("a smaller context", function()
    return h.percent() < before - 5
  end)
  h.holds(h.asked[#h.asked].preview, "tokens")
  h.holds(h.asked[#h.asked].preview, "# summary: extension offline")
  h.wait_for_chat("── context ")
  vim.cmd("Sidecar undo_compaction")
  h.wait("the context that was", function()
    return h.percent() == before
  end)
  vim.cmd("Sidecar! compact")
  h.wait("a smaller context again", function()
    return h.percent() < before - 5
  end)
  -- On the line of one that was taken back there is nothing to take back.
  vim.api.nvim_win_call(vim.fn.bufwinid("sidecar://chat"), function()
    vim.fn.cursor(1, 1)
    vim.fn.search("^── context ")
    vim.cmd("Sidecar undo_compaction")
  end)
  h.wait("what it says to that", function()
    return (h.said[#h.said] or ""):find("in effect", 1, true)
  end)
end

local function context_is_shown()
  vim.cmd("Sidecar context")
  h.wait("the context view", function()
    return h.buffer("context"):find("── turn", 1, true) ~= nil
  end)
  h.holds(h.buffer("context"), "system prompt")
  local function revision()
    local found
    require("sidecar.session").ask("context/meter", {}, function(meter)
      found = meter.revision
    end)
    h.wait("the revision", function()
      return found
    end)
    return found
  end
  for _, key in ipairs({ "p", "P" }) do
    local before = revision()
    vim.fn.cursor(1, 1)
    assert(vim.fn.search("  toolResults  ") > 0, "no result of a tool is listed")
    vim.cmd("normal " .. key)
    h.wait("another revision by " .. key, function()
      return revision() > before
    end)
  end
  vim.cmd("close")
end

local function going_back_beside_an_edit_by_hand()
  h.turn("create agent.txt with `made by the agent`")
  h.turn("replace `delta` with `epsilon` in notes.txt")
  vim.cmd("buffer notes.txt")
  vim.api.nvim_buf_set_lines(0, 2, 3, false, { "epsilon by hand" })
  vim.cmd("write")
  local mine = h.text("notes.txt")
  -- First it is only looked at.
  h.choose("Before “replace", "files and conversation", "Leave everything")
  vim.cmd("Sidecar rollback")
  h.all_chosen()
  local asked = h.asked[#h.asked]
  h.holds(asked.prompt, "What wins?")
  for _, part in ipairs({ "# ! conflicts notes.txt", "-delta", "+epsilon by hand" }) do
    h.holds(asked.preview, part)
  end
  h.equal(h.text("notes.txt"), mine)
  h.choose("Before “replace", "files and conversation", "Merge, and mark", "Go back now: 1 merged")
  vim.cmd("Sidecar rollback")
  h.all_chosen()
  h.wait_for_chat("gone back: 1 merged")
  h.holds(h.text("notes.txt"), "<<<<<<<")
  h.equal(h.read("notes.txt"), h.text("notes.txt"))
  h.lacks(h.chat(), "❯ replace `delta`")
  h.equal(h.buffer("message"), "replace `delta` with `epsilon` in notes.txt")
  h.choose("Redo now")
  vim.cmd("Sidecar redo")
  h.wait_for_chat("gone forth again")
  h.equal(h.text("notes.txt"), mine)
  h.holds(h.chat(), "❯ replace `delta`")
  h.equal(h.buffer("message"), "")
  vim.cmd("Sidecar redo")
  h.wait("the reason of an empty plan", function()
    return vim.tbl_contains(h.said, "Sidecar: nothing was restored that could be taken back")
  end)
end

local function the_daemon_comes_back()
  local daemon = require("sidecar.daemon")
  local pid = daemon.pid()
  local status
  daemon.request("daemon/status", {}, function(result)
    status = result
  end)
  h.wait("its state", function()
    return status
  end)
  -- Of one that windows share, this Neovim's own process is not the daemon's.
  h.equal(status.pid == pid, vim.env.CI ~= "false")
  vim.loop.kill(status.pid, "sigkill")
  h.wait("another daemon", function()
    return daemon.pid() and daemon.pid() ~= pid and h.percent() >= 0 and daemon.state == "ready"
  end)
  h.wait_for_chat("❯ replace `delta`")
  for _, part in ipairs({ " · user ──", ", taken back", " requests · " }) do
    h.holds(h.chat(), part)
  end
  -- It knows what is open, unsaved text too.
  vim.cmd("buffer notes.txt")
  vim.api.nvim_buf_set_lines(0, 0, 1, false, { "typed after the kill" })
  h.turn("read notes.txt")
  h.holds(h.chat(), "    typed after the kill")
  vim.cmd("write")
end

local function the_rest_of_the_commands()
  local session = require("sidecar.session")
  local first = session.id
  vim.cmd("Sidecar set policy manual")
  h.choose("claude-haiku-5-5  set ANTHROPIC_API_KEY · 1M tokens · $0.1 in, $0.01 cached")
  vim.cmd("Sidecar set model")
  h.wait("another model", function()
    return session.options[1].currentValue == "claude-haiku-5-5"
  end)
  vim.cmd("Sidecar set model offline")
  h.wait("the first model", function()
    return session.options[1].currentValue == "offline"
  end)
  vim.cmd("Sidecar handoff finish the work")
  h.wait("a draft", function()
    return session.id ~= first and #h.buffer("message") > 40
  end)
  session.open(first)
  h.wait_for_chat("❯ replace `delta`")
  vim.cmd("Sidecar fork")
  h.wait("a fork", function()
    return session.id ~= first and h.chat():find("❯ replace `delta`", 1, true)
  end)
  vim.cmd("Sidecar send run `sleep 2`")
  h.wait_for_chat("◌ Run sleep 2")
  -- Before it, the last of the history may not be drawn yet.
  local _, ended = h.chat():gsub("requests? · ", "")
  vim.cmd("Sidecar send list files")
  h.wait("one turn that was steered", function()
    local _, now = h.chat():gsub("requests? · ", "")
    return now == ended + 1 and session.running == 0
  end)
  h.holds(h.chat(), "❯ list files")
  h.holds(h.chat(), "── 3 requests")
  vim.cmd("Sidecar send run `sleep 20`")
  h.wait_for_chat("◌ Run sleep 20")
  vim.cmd("Sidecar cancel")
  h.wait_for_chat("── cancelled")
  vim.cmd("Sidecar log")
  h.equal(vim.fn.bufname(), "sidecar://log")
  h.equal(vim.fn.getcompletion("Sidecar un", "cmdline")[1], "undo_compaction")
  h.equal(vim.fn.getcompletion("Sidecar set pol", "cmdline")[1], "policy")
  local remote, before_sync = vim.fn.tempname() .. ".git", #h.said
  vim.fn.system({ "git", "init", "--quiet", "--bare", remote })
  h.choose("Send them")
  vim.cmd("Sidecar sync " .. remote)
  h.wait("what was sent", function()
    return #h.said > before_sync and h.said[#h.said]:find(" sent: " .. remote, 1, true)
  end)
  h.choose("(here)")
  vim.cmd("Sidecar elsewhere " .. remote)
  h.all_chosen()
  vim.cmd("Sidecar new")
  h.wait("an empty session", function()
    return not h.chat():find("❯", 1, true) and session.meter and session.meter.sessionId == session.id
  end)
  vim.cmd("Sidecar export out.sidecar")
  h.wait("the file", function()
    return h.said[#h.said]:find("exported to .*/workspace/out.sidecar%.")
  end)
  h.equal(vim.fn.filereadable("out.sidecar"), 1)
  local away, count = session.id, #h.said
  vim.cmd("Sidecar archive")
  h.wait("another session", function()
    return session.id ~= away
  end)
  h.holds(h.said[count + 1], "archived; `sidecar import ")
  h.equal(vim.fn.filereadable(h.said[count + 1]:match("import (.-)` brings")), 1)
  vim.cmd("Sidecar rename The empty one")
  h.wait("the title", function()
    return session.title == "The empty one"
  end)
  local empty = session.id
  h.choose("tool: read_file")
  vim.cmd("Sidecar search NOWHERE_TO_BE")
  h.wait("nothing", function()
    return h.said[#h.said]:find("no session has “NOWHERE_TO_BE”", 1, true)
  end)
  vim.cmd("Sidecar search read_file")
  h.wait("the session of the match", function()
    return session.id ~= empty and session.title ~= "" and session.title ~= "The empty one"
  end)
  h.all_chosen()
  h.wait("the match", function()
    return vim.api.nvim_get_current_line():find("✓ Read ", 1, true)
  end)
  local opened = false
  session.open(first, function(problem)
    opened = not problem
  end)
  h.wait("the first session", function()
    return opened
  end)
end

h.play(function()
  meter_is_seen()
  components_and_maps_are_there()
  turn_streams_and_edits_an_open_buffer()
  thinking_and_output_are_folded()
  unsaved_text_counts()
  compaction_and_back()
  context_is_shown()
  going_back_beside_an_edit_by_hand()
  the_daemon_comes_back()
  the_rest_of_the_commands()
  io.stdout:write("session ", require("sidecar.session").id, "\n")
end)
