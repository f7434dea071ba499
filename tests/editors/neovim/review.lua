--- What a turn changed is reviewed: each file and each hunk is kept or taken back on its own.
local h = dofile(vim.env.SIDECAR_SCENARIO .. "/harness.lua")

local function review()
  return h.buffer("review")
end

local function press(place, key)
  vim.cmd("buffer sidecar://review")
  vim.fn.cursor(1, 1)
  assert(vim.fn.search(place) > 0, place .. " is not in:\n" .. review())
  vim.cmd("normal " .. key)
end

local function wait_for(what, fits)
  h.wait(what .. ", in the review:\n" .. review(), fits)
end

local function wait_for_file(name, text)
  wait_for(name, function()
    return h.read(name) == text
  end)
end

local function wait_without(text)
  wait_for("a review without " .. text, function()
    return not review():find(text, 1, true)
  end)
end

local function wait_with(text)
  wait_for("a review with " .. text, function()
    return review():find(text, 1, true)
  end)
end

local lines = {}
for day = 1, 40 do
  lines[day] = ("On day %d Anna walked.\n"):format(day)
end
local story = table.concat(lines)
local third, thirtieth = story:gsub("day 3 Anna", "day 3 Eve"), story:gsub("day 30 Anna", "day 30 Eve")

local function a_turn_is_shown_as_it_was_made()
  vim.cmd("Sidecar chat")
  vim.cmd("stopinsert")
  vim.cmd("Sidecar review")
  h.wait("that nothing was changed", function()
    return (h.said[#h.said] or ""):find("no turn has changed a file yet", 1, true)
  end)
  h.turn("replace `day 3 Anna` with `day 3 Eve` in story.md then replace `day 30 Anna` with `day 30 Eve` in story.md"
    .. " then create made.txt with `by the agent`")
  h.turn("list files")
  vim.cmd("Sidecar review")
  wait_with("--- a/made.txt\n+++ b/made.txt\n@@ -0,0 +1 @@\n+by the agent\n")
  h.holds(review(), "--- a/story.md\n+++ b/story.md\n@@ -1,6 +1,6 @@\n On day 1 Anna")
  h.holds(review(), "\n-On day 3 Anna walked.\n+On day 3 Eve walked.\n")
  h.equal(vim.api.nvim_buf_get_name(0), "sidecar://review")
  vim.fn.cursor(1, 1)
  vim.cmd("normal ]c]c]c")
  h.holds(vim.fn.getline("."), "@@ -27,7 +27,7 @@")
  vim.cmd("normal [c")
  h.holds(vim.fn.getline("."), "@@ -1,6 +1,6 @@")
end

local function one_hunk_is_taken_back_and_brought_again()
  press("+On day 3 Eve", "x")
  wait_for_file("story.md", thirtieth)
  wait_without("+On day 3 Eve")
  h.holds(review(), "day 30 Eve")
  h.equal(vim.api.nvim_buf_get_name(0), "sidecar://review")
  press("+On day 30 Eve", "u")
  wait_for_file("story.md", (third:gsub("day 30 Anna", "day 30 Eve")))
  wait_with("+On day 3 Eve")
  press("+On day 30 Eve", "x")
  wait_for_file("story.md", third)
  wait_without("+On day 30 Eve")
end

local function a_hunk_is_kept()
  press("+On day 3 Eve", "a")
  wait_with("# story.md: kept")
  press("x takes back", "u")
  wait_with("+On day 3 Eve")
  press("+On day 3 Eve", "a")
  wait_with("# story.md: kept")
end

local function a_file_is_taken_back()
  press("+by the agent", "X")
  wait_for("the file to go", function()
    return vim.fn.filereadable("made.txt") == 0
  end)
  wait_without("+by the agent")
end

local function what_became_another_is_refused_and_drawn_anew()
  press("x takes back", "u")
  wait_with("+by the agent")
  h.write("made.txt", "by hand\n")
  press("+by the agent", "x")
  h.wait("the refusal", function()
    return (h.said[#h.said] or ""):find("were changed since, so nothing was touched", 1, true)
  end)
  wait_without("+by the agent")
  h.holds(review(), "# made.txt: ")
  h.equal(h.read("made.txt"), "by hand\n")
end

local function a_conflict_is_asked_about()
  h.write("story.md", (third:gsub("day 3 Eve", "day 3 Mary")))
  h.choose("Overwrite", "Take it back now")
  local drawn = vim.fn.getbufvar("sidecar://review", "changedtick")
  press("story.md: ", "X")
  h.all_chosen()
  wait_for_file("story.md", story)
  wait_for("it drawn anew", function()
    return vim.fn.getbufvar("sidecar://review", "changedtick") > drawn
  end)
  h.holds(review(), "# story.md: ")
end

local function what_was_left_as_it_is_can_be_undone_yet()
  local mary = third:gsub("day 3 Eve", "day 3 Mary")
  h.write("story.md", (story:gsub("day 3 Anna", "day 3 Otto")))
  h.choose("Leave everything")
  press("x takes back", "u")
  h.all_chosen()
  h.choose("Overwrite", "Undo it now")
  press("x takes back", "u")
  h.all_chosen()
  wait_for_file("story.md", mary)
end

local function the_file_is_opened_at_its_hunk()
  h.turn("replace `day 30 Anna` with `day 30 Eve` in story.md")
  vim.cmd("Sidecar review")
  wait_with("+On day 30 Eve")
  press("+On day 30 Eve", "\r")
  h.equal(vim.fn.expand("%:t"), "story.md")
  h.equal(vim.fn.getline("."), "On day 30 Eve walked.")
end

local function a_name_runs_nothing()
  h.write("x.lua", 'vim.g.ran = "by the name of another file"\n')
  vim.fn.mkdir("a\nluafile.")
  h.write("a\nluafile./x.lua", "-- old\n")
  h.turn("run `sed -i 's/old/new/' a*/x.lua`")
  vim.cmd("Sidecar review")
  wait_with("+-- new")
  press("+-- new", "\r")
  h.equal(vim.g.ran, nil)
  h.equal(vim.api.nvim_buf_get_name(0), vim.fn.getcwd() .. "/a\nluafile./x.lua")
  h.equal(vim.fn.getline("."), "-- new")
  h.equal(vim.bo.buflisted, true)
end

local function of_equal_hunks_each_is_kept_alone()
  local block = table.concat({ "one", "two", "three", "four", "five", "six", "seven", "eight", "" }, "\n")
  h.write("twins.txt", block:rep(3))
  h.turn("run `sed -i s/four/4/ twins.txt`")
  vim.cmd("Sidecar review")
  wait_with("@@ -17,7 +17,7 @@")
  press("@@ -9,7", "a")
  wait_without("@@ -9,7")
  h.holds(review(), "@@ -1,7 +1,7 @@")
  h.holds(review(), "@@ -17,7 +17,7 @@")
  -- What is the second then was the third, and is not kept.
  press("@@ -1,7", "x")
  wait_for_file("twins.txt", block .. (block .. block):gsub("four", "4"))
  wait_without("@@ -1,7")
  h.holds(review(), "@@ -9,7 +9,7 @@")
  h.holds(review(), "@@ -17,7 +17,7 @@")
  press("@@ -17,7", "a")
  wait_without("@@ -17,7")
  press("@@ -9,7", "a")
  wait_with("# twins.txt: kept")
end

h.play(function()
  h.write("story.md", story)
  vim.fn.mkdir("sub")
  h.setup({ options = { model = "offline", workspaceTrusted = true, permissions = { allow = { "edit", "shell" } } } })
  h.wait_for_meter()
  a_turn_is_shown_as_it_was_made()
  one_hunk_is_taken_back_and_brought_again()
  a_hunk_is_kept()
  a_file_is_taken_back()
  what_became_another_is_refused_and_drawn_anew()
  a_conflict_is_asked_about()
  what_was_left_as_it_is_can_be_undone_yet()
  the_file_is_opened_at_its_hunk()
  a_name_runs_nothing()
  of_equal_hunks_each_is_kept_alone()
end)
