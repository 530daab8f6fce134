/** `desk.yaml:12` of `/srv/agents/desk.yaml:12:5  config.react…`. */
export function shortPlace(from: string): string {
  return from.replace(/^\S*[/\\]/, '').replace(/^(\S+?:\d+):\d+\s.*$/, '$1');
}

/** What leads to the key: `config.react.main.about`. */
export function pathOfPlace(from: string): string {
  return /\s\s(\S.*)$/.exec(from)?.[1] ?? '';
}
