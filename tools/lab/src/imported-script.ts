/** For the environment of a program of ours: it runs this script first. @param script - a module in JavaScript, without imports. */
export function importedScript(script: string): Readonly<Record<string, string>> {
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}
