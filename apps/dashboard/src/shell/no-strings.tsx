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
  },
  {
    lang: 'zh-CN',
    title: '控制台未能加载',
    text: '中枢没有应答，或刚刚更新。请检查网络，然后重试。',
    act: '重试',
  },
] as const;

export function NoStrings() {
  const [isBusy, setBusy] = useState(false);
  const retry = async () => {
    setBusy(true);
    if (!(await reloadConsole())) setBusy(false);
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
        <Button loading={isBusy} onClick={() => void retry()}>
          {texts.map(({ lang, act }, index) => (
            <span key={lang} lang={lang}>
              {index > 0 && '\u00a0· '}
              {act}
            </span>
          ))}
        </Button>
      </div>
    </main>
  );
}
