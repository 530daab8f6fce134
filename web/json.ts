/** The one place where the page reads JSON. Throws a SyntaxError; whoever reads says whose words they are. */
export function readJson(text: string): unknown {
  return JSON.parse(text);
}
