import type { McpService } from '../../domain/mcp.ts';

/** Takes the secrets of a service out of a text: servers and libraries repeat what they were sent. */
export function withoutSecrets(
  service: McpService,
  more: () => readonly string[] = () => [],
): (text: string) => string {
  const own = secretsOf(service);
  return (text) =>
    [...own, ...more()]
      .filter((one) => one.length >= 4)
      .sort((left, right) => right.length - left.length)
      .reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
}

function secretsOf(service: McpService): readonly string[] {
  if (service.transport === 'stdio') return Object.values(service.env ?? {});
  const { auth, headers, url } = service;
  const { username, password, searchParams } = new URL(url);
  const own =
    auth?.type === 'bearer'
      ? [auth.token]
      : auth?.type === 'oauth2'
        ? [auth.client_secret ?? '']
        : auth === undefined
          ? []
          : [auth.value];
  return [...own, ...Object.values(headers ?? {}), username, password, ...searchParams.values()];
}
