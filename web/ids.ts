/** A key for one logical mutation, so that the server does it once however often it is sent. Keep it for retries. */
export function newKey(): string {
  return crypto.randomUUID();
}
