import type { GrantedService } from '../domain/grant.ts';

const INTRODUCTION = `# Services

Services hold objects. The tools of a service begin with its name. An object is known by the id that its service gave it.`;

/** The list of services as a model is shown it; empty when there are none. Not which operations: the tools say that. */
export function roster(services: readonly Pick<GrantedService, 'namespace' | 'label' | 'description'>[]): string {
  if (services.length === 0) return '';
  const lines = services.map(({ namespace, label, description }) => {
    const said = [label === namespace ? '' : label, description].filter(Boolean).join('. ').replace(/\s+/g, ' ');
    return `- ${namespace}_*${said === '' ? '' : `: ${said}`}`;
  });
  return [INTRODUCTION, '', ...lines].join('\n');
}
