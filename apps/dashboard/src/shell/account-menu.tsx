/** Who is signed in, how the console looks for them, and the way out. */
import { Suspense, useRef, useState } from 'react';
import {
  Button,
  Divider,
  Popover,
  SegmentedControl,
  Stack,
  Text,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import {
  type Icon,
  IconChevronUp,
  IconDevicesOff,
  IconKeyboard,
  IconLogout,
  IconPassword,
  IconUserCircle,
} from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useSession, useViewer } from '../hub/hub';
import { useDensity } from '../look/density';
import { lazyPart } from '../parts/lazy-part';
import { chooseLanguage, type Language, languages } from '../strings/language';
import { useKeyboard } from './keyboard/keyboard';
import classes from './shell.module.css';

/** Dialogs that load on first use. */
const ChangePassword = lazyPart(() => import('./change-password').then((part) => part.ChangePassword));
const SignOutEverywhere = lazyPart(() => import('./sign-out-everywhere').then((part) => part.SignOutEverywhere));

type Asked = 'password' | 'everywhere';

export function AccountMenu() {
  const { t } = useTranslation();
  const viewer = useViewer();
  const session = useSession();
  const openKeyboard = useKeyboard();
  const [isOpen, setOpen] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const button = useRef<HTMLButtonElement>(null);
  // What was chosen, and had the focus, is gone by then.
  const close = () => {
    setAsked(undefined);
    button.current?.focus();
  };
  const choose = (act: () => void) => () => {
    setOpen(false);
    act();
  };
  return (
    <>
      {/* Not a menu item, because a menu must not contain radio groups. */}
      <Popover
        opened={isOpen}
        onChange={setOpen}
        position="top-start"
        width={256}
        keepMounted={false}
        trapFocus
        returnFocus
        transitionProps={{ duration: 0 }}
      >
        <Popover.Target>
          <button ref={button} type="button" className={classes.account} onClick={() => setOpen(!isOpen)}>
            <IconUserCircle size={18} stroke={1.7} aria-hidden />
            <span className={`${classes.accountName} cut`}>
              {viewer.name}
              <VisuallyHidden>, {t('app.account')}</VisuallyHidden>
            </span>
            <IconChevronUp size={14} aria-hidden />
          </button>
        </Popover.Target>
        <Popover.Dropdown p={4}>
          <Choices
            onAsk={(dialog) => choose(() => setAsked(dialog))()}
            onKeyboard={choose(() => openKeyboard('help'))}
            onSignOut={choose(() => void session.signOut())}
          />
        </Popover.Dropdown>
      </Popover>
      {asked === 'password' && (
        <Suspense>
          <ChangePassword onClose={close} />
        </Suspense>
      )}
      {asked === 'everywhere' && (
        <Suspense>
          <SignOutEverywhere onClose={close} />
        </Suspense>
      )}
    </>
  );
}

interface ChoicesProps {
  readonly onAsk: (dialog: Asked) => void;
  readonly onKeyboard: () => void;
  readonly onSignOut: () => void;
}

function Choices({ onAsk, onKeyboard, onSignOut }: ChoicesProps) {
  const { t } = useTranslation();
  const viewer = useViewer();
  return (
    <>
      <Text size="xs" c="dimmed" px={12} py={6}>
        {t('app.signedInAs')} {viewer.user?.email ?? viewer.name}
        {viewer.user === null && t('mark.comma') + t('account.signedInByKey')}
      </Text>
      <Appearance />
      <Divider my={4} />
      <Act icon={IconKeyboard} text={t('keyboard.title')} onClick={onKeyboard} />
      {viewer.user && <Act icon={IconPassword} text={t('app.changePassword')} onClick={() => onAsk('password')} />}
      <Act icon={IconLogout} text={t('app.signOut')} onClick={onSignOut} />
      {viewer.user && (
        <Act icon={IconDevicesOff} text={t('app.signOutEverywhere')} onClick={() => onAsk('everywhere')} />
      )}
    </>
  );
}

interface ActProps {
  readonly icon: Icon;
  readonly text: string;
  readonly onClick: () => void;
}

function Act({ icon: Shape, text, onClick }: ActProps) {
  return (
    <Button
      variant="subtle"
      color="gray"
      fullWidth
      justify="start"
      leftSection={<Shape size={16} aria-hidden />}
      onClick={onClick}
    >
      {text}
    </Button>
  );
}

function Appearance() {
  const { t, i18n } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const { density, setDensity } = useDensity();
  return (
    <Stack gap={10} px={12} py={6}>
      <Choice
        label={t('app.language')}
        value={i18n.language as Language}
        options={languages}
        onChange={(language) => void chooseLanguage(language)}
      />
      <Choice
        label={t('app.appearance')}
        value={colorScheme}
        options={{ auto: t('app.auto'), light: t('app.light'), dark: t('app.dark') }}
        onChange={setColorScheme}
      />
      <Choice
        label={t('app.density')}
        value={density}
        options={{ comfortable: t('app.comfortable'), compact: t('app.compact') }}
        onChange={setDensity}
      />
    </Stack>
  );
}

interface ChoiceProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: Readonly<Record<Value, string>>;
  readonly onChange: (value: Value) => void;
}

function Choice<Value extends string>({ label, value, options, onChange }: ChoiceProps<Value>) {
  return (
    <div>
      <Text size="xs" c="dimmed" mb={4}>
        {label}
      </Text>
      <SegmentedControl
        size="xs"
        fullWidth
        aria-label={label}
        value={value}
        data={(Object.entries(options) as [Value, string][]).map(([key, text]) => ({ value: key, label: text }))}
        onChange={(chosen) => onChange(chosen as Value)}
      />
    </div>
  );
}
