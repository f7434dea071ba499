rockspec_format = "3.0"
package = "sidecar.nvim"
version = "0.1.0-1"
source = { url = "git+https://github.com/OWNER/sidecar.nvim.git", tag = "v0.1.0" }
description = {
  summary = "A coding agent beside Neovim: chat, context meter, compaction, going back",
  homepage = "https://github.com/OWNER/sidecar.nvim",
  license = "MIT",
}
dependencies = { "lua >= 5.1" }
build = { type = "builtin", copy_directories = { "doc", "plugin" } }
