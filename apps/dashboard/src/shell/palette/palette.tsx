/** The palette: one field that finds pages, acts, devices, jobs, groups and images, by keyboard. */
import { type ReactNode, useCallback, useEffect, useState } from 'react';
import { Combobox, Kbd, Modal, TextInput, useCombobox } from '@mantine/core';
import {
  IconCpu,
  IconKeyboard,
  IconListCheck,
  IconLogout,
  IconPackage,
  IconPlayerPlay,
  IconSearch,
  IconUpload,
  IconUserPlus,
  IconUsersGroup,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { useMayStartJobs, useSession, useViewer } from '../../hub/hub';
import { hasFleetScope, hasScope } from '../../hub/rights';
import type { Scope } from '../../hub/session';
import { navigationFor } from '../navigation';
import { type FoundThing, type HubKind, hubKinds, matchingTexts } from './found-groups';
import classes from './palette.module.css';
import { useHubSearch } from './use-hub-search';

interface PaletteProps {
  readonly onClose: () => void;
  /** Shows the list of shortcuts. */
  readonly onHelp: () => void;
}

interface Choice extends FoundThing {
  readonly icon: ReactNode;
  readonly choose: () => void;
  /** Whether the palette stays open. */
  readonly staysOpen?: boolean;
}

interface ChoiceGroup {
  readonly name: string;
  readonly choices: readonly Choice[];
}

const iconSize = 16;

export function Palette({ onClose, onHelp }: PaletteProps) {
  const { t } = useTranslation();
  const [typed, setTyped] = useState('');
  const { choicesOfConsole } = useConsoleChoices(onHelp);
  const { groups: ofHub, isBusy, hasFailed } = useHubChoices(typed);
  const groups = [...choicesOfConsole(typed), ...ofHub].filter(({ choices }) => choices.length > 0);
  const combobox = useCombobox({ opened: true, onDropdownClose: onClose });
  const count = countOf(groups);
  const { selectFirstOption } = combobox;
  // The field refers to the list only in a rendering after the list is drawn.
  const [, setDrawn] = useState(false);
  const onDrawn = useCallback(() => setDrawn(true), []);
  useEffect(() => selectOption(selectFirstOption), [typed, selectFirstOption]);
  // What the hub found is added below; a selected choice stays selected.
  useEffect(() => selectOption(() => hasSelection() || selectFirstOption()), [count, selectFirstOption]);
  const submit = (value: string) => {
    const chosen = groups.flatMap(({ choices }) => choices).find(({ id }) => id === value);
    if (chosen?.staysOpen !== true) onClose();
    chosen?.choose();
  };
  return (
    <Modal.Root opened onClose={onClose} size={600} yOffset="12dvh" transitionProps={{ duration: 0 }}>
      <Modal.Overlay />
      <Modal.Content aria-label={t('palette.title')}>
        <Modal.Body p={0}>
          <Combobox store={combobox} onOptionSubmit={submit} withinPortal={false}>
            <Combobox.EventsTarget withExpandedAttribute>
              <TextInput
                data-autofocus
                role="combobox"
                aria-autocomplete="list"
                classNames={{ input: classes.field ?? '' }}
                variant="unstyled"
                size="md"
                px="md"
                aria-label={t('palette.title')}
                placeholder={t('palette.placeholder')}
                leftSection={<IconSearch size={18} aria-hidden />}
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
              />
            </Combobox.EventsTarget>
            <Choices groups={groups} onDrawn={onDrawn} />
            <div className={classes.foot} role="status">
              {hasFailed && t('palette.failed')}
              {!hasFailed && isBusy && t('common.loading')}
              {!hasFailed && !isBusy && (count === 0 ? t('palette.none') : t('palette.count', { count }))}
              <span className={classes.keys} aria-hidden>
                {keys.map((key) => (
                  <Kbd key={key} ml={4}>
                    {key}
                  </Kbd>
                ))}
              </span>
            </div>
          </Combobox>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

/** Without those that only load more results. */
function countOf(groups: readonly ChoiceGroup[]): number {
  return groups.flatMap(({ choices }) => choices).filter(({ staysOpen }) => staysOpen !== true).length;
}

const keys = ['↑', '↓', 'Enter', 'Esc'] as const;

interface ChoicesProps {
  readonly groups: readonly ChoiceGroup[];
  readonly onDrawn: () => void;
}

function Choices({ groups, onDrawn }: ChoicesProps) {
  const { t } = useTranslation();
  useEffect(onDrawn, [onDrawn]);
  return (
    <Combobox.Options id="palette-choices" className={classes.options ?? ''} aria-label={t('palette.results')}>
      {groups.map(({ name, choices }) => (
        <Combobox.Group key={name} label={name}>
          {choices.map(({ id, text, detail, icon }) => (
            <Combobox.Option key={id} value={id} className={classes.option ?? ''}>
              {icon}
              <span className={`${classes.text} cut`}>{text}</span>
              {detail !== undefined && detail !== '' && <span className={`${classes.detail} cut`}>{detail}</span>}
            </Combobox.Option>
          ))}
        </Combobox.Group>
      ))}
    </Combobox.Options>
  );
}

/** After the options are drawn: the store looks for them in the document. */
function selectOption(select: () => unknown): () => void {
  const frame = requestAnimationFrame(() => select());
  return () => cancelAnimationFrame(frame);
}

function hasSelection(): boolean {
  return document.querySelector('[role=option][data-combobox-selected]') !== null;
}

/** Pages and acts that the viewer may use. */
function useConsoleChoices(onHelp: () => void) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const session = useSession();
  const viewer = useViewer();
  const may = (...needed: readonly Scope[]) => needed.every((scope) => hasScope(viewer, scope));
  const mayStart = useMayStartJobs();
  const pages = navigationFor(viewer).map(({ name, to, icon: Shape }) => ({
    id: `page ${name}`,
    text: t(`nav.${name}`),
    choose: () => void navigate({ to }),
    icon: <Shape size={iconSize} aria-hidden />,
  }));
  const act = (id: string, text: string, Shape: typeof IconCpu, choose: () => void): Choice => ({
    id: `act ${id}`,
    text,
    choose,
    icon: <Shape size={iconSize} aria-hidden />,
  });
  const acts = [
    ...(mayStart ? [act('job', t('jobs.new'), IconPlayerPlay, () => void navigate({ to: '/jobs/new' }))] : []),
    ...(may('DEVICES_WRITE', 'DEVICES_READ')
      ? [act('add', t('palette.addDevices'), IconUserPlus, () => void navigate({ to: '/enrolments' }))]
      : []),
    ...(hasFleetScope(viewer, 'FIRMWARE_WRITE') && may('DEVICES_READ')
      ? [act('image', t('palette.uploadImage'), IconUpload, () => void navigate({ to: '/firmware' }))]
      : []),
    act('help', t('keyboard.title'), IconKeyboard, onHelp),
    act('signOut', t('app.signOut'), IconLogout, () => void session.signOut()),
  ];
  const choicesOfConsole = (typed: string): readonly ChoiceGroup[] => [
    { name: t('palette.kinds.pages'), choices: matchingTexts(pages, typed) },
    { name: t('palette.kinds.acts'), choices: matchingTexts(acts, typed) },
  ];
  return { choicesOfConsole };
}

const icons = { devices: IconCpu, jobs: IconListCheck, groups: IconUsersGroup, images: IconPackage } as const;

/** What the hub found, with a choice at the end of a kind that reads its next page. */
function useHubChoices(typed: string) {
  const { t } = useTranslation();
  const open = useOpenThing();
  const { found, isBusy, hasFailed, readMore } = useHubSearch(typed);
  const groups = hubKinds.map((kind): ChoiceGroup => {
    const { things, after } = found[kind] ?? { things: [], after: null };
    const Shape = icons[kind];
    const choices = things.map((thing): Choice => ({
      ...thing,
      id: `${kind} ${thing.id}`,
      choose: () => open(kind, thing),
      icon: <Shape size={iconSize} aria-hidden />,
    }));
    const more: Choice = {
      id: `more ${kind}`,
      text: t('common.loadMore'),
      staysOpen: true,
      choose: () => readMore(kind),
      icon: <span aria-hidden>…</span>,
    };
    return { name: t(`palette.kinds.${kind}`), choices: after === null ? choices : [...choices, more] };
  });
  return { groups, isBusy, hasFailed };
}

function useOpenThing(): (kind: HubKind, thing: FoundThing) => void {
  const navigate = useNavigate();
  return (kind, { id }) => {
    if (kind === 'devices') void navigate({ to: '/devices/$id', params: { id } });
    else if (kind === 'jobs') void navigate({ to: '/jobs/$id', params: { id } });
    else if (kind === 'groups') void navigate({ to: '/devices', search: { groupId: id } });
    else void navigate({ to: '/firmware', hash: id });
  };
}
