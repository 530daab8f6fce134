import { MessageCircleQuestion } from 'lucide-react';
import { useState } from 'react';
import type { OpenRequest, RunAnswer } from '../api/types.ts';
import { useKept } from '../state/kept.ts';
import { Button } from '../ui/button.tsx';

/** A question of the agent: choices where it offers some, and always one's own words. */
export function QuestionCard({
  request,
  onAnswer,
}: {
  readonly request: OpenRequest;
  readonly onAnswer: (answer: RunAnswer) => Promise<void>;
}) {
  const { id, digest, run, question, choices = [] } = request;
  const [text, setText] = useKept(`reply ${run} ${id}`, '');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const reply = (words: string): void => {
    setBusy(true);
    setProblem(undefined);
    onAnswer({ request: id, digest, run, decision: 'reply', text: words })
      .then(
        () => {
          setText(undefined);
        },
        (error: unknown) => {
          setProblem(error instanceof Error ? error.message : 'The answer was not taken.');
        },
      )
      .finally(() => {
        setBusy(false);
      });
  };
  return (
    <section className="approval question" aria-labelledby={`ask-${id}`}>
      <header>
        <MessageCircleQuestion size={18} aria-hidden />
        <h3 id={`ask-${id}`}>{question}</h3>
      </header>
      {choices.length === 0 ? null : (
        <div className="choices">
          {choices.map((choice) => (
            <Button
              key={choice}
              disabled={isBusy}
              onClick={() => {
                reply(choice);
              }}
            >
              {choice}
            </Button>
          ))}
        </div>
      )}
      <form
        className="question-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() !== '') reply(text);
        }}
      >
        <input
          aria-label={`Your answer to “${question}”`}
          dir="auto"
          placeholder={choices.length === 0 ? 'Your answer' : 'Or in your own words'}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
          }}
        />
        <Button type="submit" look="solid" disabled={isBusy || text.trim() === ''}>
          Answer
        </Button>
      </form>
      {problem === undefined ? null : (
        <p className="field-problem" role="alert">
          {problem}
        </p>
      )}
    </section>
  );
}
