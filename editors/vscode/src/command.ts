/** Where the daemon is: the setting, else PATH, else what uv can run. */

export interface Command {
  path: string;
  args: string[];
  env: Record<string, string | undefined>;
}
