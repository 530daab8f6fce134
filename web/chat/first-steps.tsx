import type { Agent } from '../api/types.ts';
import { FirstRun } from './first-run.tsx';

/** What one may ask, for who does not know yet; and what answers, where that is not what people expect. */
export function FirstSteps({
  agent,
  onPick,
}: {
  readonly agent: Agent | undefined;
  readonly onPick: (text: string) => void;
}) {
  if (agent === undefined) return null;
  return (
    <div className="first-steps">
      {agent.starters === undefined ? null : (
        <ul className="starters" aria-label="To begin with">
          {agent.starters.map((text) => (
            <li key={text}>
              <button
                type="button"
                className="starter"
                onClick={() => {
                  onPick(text);
                }}
              >
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
      {agent.model?.why === 'scripted' ? <FirstRun /> : null}
      {agent.model === undefined || agent.model.why === 'scripted' ? null : (
        <p className="first-model">
          {agent.model.model} answers,{' '}
          {agent.model.why === 'local' ? 'from this machine' : `from ${agent.model.provider}`}.
        </p>
      )}
    </div>
  );
}
