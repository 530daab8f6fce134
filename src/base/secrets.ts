/** Shorter ones would be found in half the words there are. */
const SHORTEST = 4;

/** Takes values out of what goes back to models and logs: servers and tools repeat what they were given. */
export function withoutSecrets(values: readonly string[]): (text: string) => string {
  const bare = values.flatMap((one) => [one, one.replace(/^(Bearer|Basic) /, '')]);
  const secrets = [...new Set(bare)]
    .filter((one) => one.length >= SHORTEST)
    .sort((left, right) => right.length - left.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
}
