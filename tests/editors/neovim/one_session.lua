--- Beside other editors on one session; see `tests/editors/vscode/one_session.mjs`, which says when.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

local session = require("sidecar.session")
local open = {}
vim.ui.select = function(items, options, done)
  table.insert(open, { items = items, shown = vim.tbl_map(options.format_item, items), prompt = options.prompt, done = done })
end

local function place(name)
  return vim.fn.getcwd() .. "/../neovim-" .. name
end

--- Plays a step once VS Code says so, and tells that it is done, with the meter's per cent. With
--- `amid`, the turn goes on.
local function step(name, run, amid)
  h.wait(name .. " to begin", function()
    return name == "joined" or vim.fn.filereadable(place(name .. ".go")) == 1
  end)
  run()
  h.wait("the turn's end", function()
    return amid or (session.running == 0 and require("sidecar.meter").doing == nil)
  end)
  h.write(place(name .. ".new"), tostring(h.percent()))
  vim.fn.rename(place(name .. ".new"), place(name .. ".done"))
end

local function asked(part)
  h.wait("the question " .. part, function()
    return #open == 1 and open[1].prompt:find(part, 1, true)
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

local function send(name)
  vim.cmd(('Sidecar send call shell {"command": "echo %s > %s.txt"}'):format(name, name))
  asked("Run echo " .. name)
end

h.play(function()
  h.setup({
    cmd = { vim.env.SIDECAR_PROGRAM, "serve", "--stdio" },
    options = { model = "offline", window = 16000, workspaceTrusted = true },
  })
  step("joined", function()
    h.wait_for_meter()
    vim.cmd("Sidecar chat")
    vim.cmd("Sidecar sessions")
    h.wait("the sessions", function()
      return #open == 1
    end)
    local own = session.id
    choose("read a.txt")
    h.wait("its meter", function()
      return session.id ~= own and session.meter and session.meter.sessionId == session.id
    end)
    h.wait_for_chat("❯ read a.txt")
  end)
  step("allowed", function()
    asked("Run echo allowed")
    choose("Allow once")
    h.wait("what was allowed", function()
      return vim.fn.filereadable("allowed.txt") == 1
    end)
  end)
  step("refused", function()
    send("refused")
    h.wait("no question", function()
      return #h.waiting() == 0 and session.running == 0
    end)
    -- A picker cannot be closed from outside: its answer comes too late.
    choose("Allow once")
    h.holds(h.said[#h.said], "nothing waits for this answer any more")
  end)
  step("waited", function()
    send("waited")
    h.wait("what was allowed", function()
      return vim.fn.filereadable("waited.txt") == 1
    end)
    choose("Allow once")
  end)
  step("spoken", function()
    h.turn("hello from neovim")
  end)
  step("heard", function()
    for _, name in ipairs({ "vscode", "neovim", "emacs", "acp" }) do
      h.wait_for_chat("❯ hello from " .. name)
    end
  end)
  step("shown", function()
    asked("Run echo four")
  end, true)
  step("withdrawn", function()
    h.wait("no question", function()
      return #h.waiting() == 0
    end)
  end)
end)
