// Who takes part. The peers are installed under bench/ only.

export interface SubjectInfo {
  readonly name: string;
  readonly module: string;
  /** Package to import and to weigh. */
  readonly package?: string;
  readonly http: boolean;
  readonly log: boolean;
  /** Turns of the longest conversation that it is asked for; its cost grows with each. */
  readonly longest: number;
  /** `--quick` leaves it out: of everything, or of the thousand at once. */
  readonly slow?: 'always' | 'crowd';
}

const full = { http: true, log: false, longest: 500 };

export const floor: SubjectInfo = { ...full, name: 'floor', module: './floor.ts', log: true };
export const treadle: SubjectInfo = { ...full, name: 'Treadle', module: './treadle.ts', log: true };

export const peers: readonly SubjectInfo[] = [
  { ...full, name: 'pi 0.73', module: './peers/pi.ts', package: '@mariozechner/pi-agent-core' },
  { ...full, name: 'pi 1.6', module: './peers/pi-next.ts', package: '@earendil-works/pi-agent-core' },
  { ...full, name: 'AI SDK', module: './peers/ai.ts', package: 'ai' },
  {
    ...full,
    name: 'LangGraph',
    module: './peers/langgraph.ts',
    package: '@langchain/langgraph',
    log: true,
    slow: 'crowd',
  },
  {
    ...full,
    name: 'OpenAI',
    module: './peers/openai-agents.ts',
    package: '@openai/agents',
    http: false,
    longest: 200,
    slow: 'always',
  },
];
