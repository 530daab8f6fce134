import type { Agent } from '../api/types.ts';

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
      {agent.model?.why === 'scripted' ? (
        <aside className="first-run" aria-label="Which model answers">
          <h2>A script answers for now</h2>
          <p>
            No model was found, so this agent follows authored decisions. Its tools, approvals and log are real. For a
            real model, stop the server, do one of these and start it again:
          </p>
          <ul>
            <li>
              set <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code> or{' '}
              <code>GOOGLE_GENERATIVE_AI_API_KEY</code>
            </li>
            <li>start Ollama, LM Studio, llama.cpp or vLLM on this machine</li>
          </ul>
        </aside>
      ) : null}
      {agent.model === undefined || agent.model.why === 'scripted' ? null : (
        <p className="first-model">
          {agent.model.model} answers,{' '}
          {agent.model.why === 'local' ? 'from this machine' : `from ${agent.model.provider}`}.
        </p>
      )}
    </div>
  );
}
