/** Shown where no catalogue of texts came at the start: in each language, without a catalogue. */
import { useState } from 'react';
import { Button } from '@mantine/core';
import { reloadConsole } from '../hub/reload-console';
import classes from './entrance.module.css';

const texts = [
  {
    lang: 'en',
    title: 'The console could not be loaded',
    text: 'The hub did not answer, or it was updated. Check your network, then try again.',
    act: 'Try again',
    unanswered: 'The hub still does not answer.',
  },
  {
    lang: 'zh-CN',
    title: '控制台未能加载',
    text: '中枢没有应答，或刚刚更新。请检查网络，然后重试。',
    act: '重试',
    unanswered: '中枢仍然没有应答。',
  },
] as const;

export function NoStrings() {
  const [state, setState] = useState<'idle' | 'busy' | 'unanswered'>('idle');
  const retry = async () => {
    setState('busy');
    if (!(await reloadConsole())) setState('unanswered');
  };
  return (
    <main className={classes.page}>
      <div className={classes.card}>
        {texts.map(({ lang, title, text }) => (
          <section key={lang} lang={lang}>
            <h1 className={classes.title}>{title}</h1>
            <p className="soft">{text}</p>
          </section>
        ))}
        <Button loading={state === 'busy'} onClick={() => void retry()}>
          <InEachLanguage text="act" />
        </Button>
        {state === 'unanswered' && (
          <p className={classes.failure} role="alert">
            <InEachLanguage text="unanswered" />
          </p>
        )}
      </div>
    </main>
  );
}

function InEachLanguage({ text }: { readonly text: 'act' | 'unanswered' }) {
  return texts.map(({ lang, [text]: said }, index) => (
    <span key={lang} lang={lang}>
      {index > 0 && '\u00a0· '}
      {said}
    </span>
  ));
}
