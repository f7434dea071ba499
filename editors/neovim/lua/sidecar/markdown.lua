--- Markdown by treesitter, in the model's answers alone: what tools print is no Markdown, and hides
--- nothing. Needs Neovim 0.9 and a parser; elsewhere the chat has Vim's syntax.
local M = {}

local parser

--- Has a buffer's answers drawn, where that can be.
function M.start(buffer)
  local ok, found = pcall(function()
    vim.treesitter.start(buffer, "markdown")
    return vim.treesitter.get_parser(buffer, "markdown")
  end)
  parser = ok and found or nil
  M.regions({})
end

function M.on()
  return parser ~= nil
end

--- Tells where answers stand, as pairs of lines: the first, and the one behind the last.
function M.regions(places)
  if parser then
    parser:set_included_regions(vim.tbl_map(function(place)
      return { { place[1], 0, place[2], 0 } }
    end, places))
  end
end

return M
