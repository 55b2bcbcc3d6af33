/** Texte der Flotte. */

import type { Texts } from "../en";
import { decimal, plural as counted, whole } from "../format";

const plural = (n: number, one: string, other: string): string => counted(n, { one, other });
const units = (n: number): string => plural(n, "Einheit", "Einheiten");
const workers = (n: number): string => plural(n, "Helfer", "Helfer");

export const fleet: Texts["fleet"] = {
  title: "Flotte",
  lead: "Die Rechner hinter diesem Server: Helfer rechnen für ihn, andere Server teilen seine Partien.",
  loading: "Die Flotte wird geladen",

  what: "Was ist eine Flotte?",
  about: [
    "Eine Flotte ist eine Gruppe von Rechnern, die diesem helfen. Sie spielen die Partien der Turniere und Trainingsläufe, die hier gestartet werden. Die Ergebnisse sind dieselben wie auf diesem Rechner allein, nur schneller da.",
    "Ein Rechner, der hilft, heißt Helfer. Helfer können jederzeit kommen und gehen: Nichts geht verloren, und andere bringen zu Ende, was sie begonnen haben.",
    "Helfer und Server finden einander über NATS, einen kleinen Nachrichtenserver.",
  ],
  steps: "Eine Flotte einrichten",
  startNats: "Den NATS-Server auf diesem Rechner starten:",
  natsOpen: "Wer ihn erreicht, kann sich verbinden; betreibe ihn also in einem privaten Netz oder sichere ihn ab.",
  startServer: "Diesen Server mit dessen Adresse starten:",
  addWorker: "Auf jedem Rechner, der helfen soll, Claimeven installieren und einen Helfer starten:",
  add: "Einen Rechner hinzufügen",
  addAbout: "Dort dieselbe Version von Claimeven installieren und diesen Befehl ausführen:",
  addHost: "Ersetze HOST durch die Adresse dieses Rechners im Netzwerk.",
  copy: "Kopieren",
  copied: "Kopiert",
  noWorkers: "Keine Helfer verbunden.",
  noWorkersAbout: "Bis sich einer verbindet, spielt dieser Server seine Turniere und Trainingsläufe selbst.",

  notAllowed: "Nur der Betreiber dieses Servers kann seine Flotte sehen.",
  notAllowedAbout: "Standardmäßig wird sie nur Browsern auf dem Rechner des Servers gezeigt, zum Beispiel über einen SSH-Tunnel. Die Einstellung fleet_page ändert das.",

  lost: (nats) => `Der NATS-Server unter ${nats} ist nicht erreichbar.`,
  lostSince: (time) => `Er ist seit ${time} nicht erreichbar. Partien gehen weiter, und dieser Server erledigt alle Arbeit selbst, bis er wieder da ist.`,
  lostCheck: "Prüfe, ob nats-server dort läuft und keine Firewall ihn blockiert. Die Verbindung wird automatisch wiederhergestellt.",
  lastSeen: "Unten steht der letzte bekannte Stand.",

  facts: { workers: "Helfer", threads: "Threads", rate: "Einheiten pro Sekunde", waiting: "Wartende Einheiten", jobs: "Aufträge" },
  units: "Eine Einheit ist ein kleines Stück Arbeit, zum Beispiel eine Partie.",
  rate: "Einheiten pro Sekunde",
  waiting: "Einheiten, die auf einen Helfer warten",
  minutesAgo: "vor … Minuten",
  now: "jetzt",

  workers: "Helfer",
  columns: {
    worker: "Helfer",
    version: "Version",
    threads: "Threads",
    running: "In Arbeit",
    waiting: "Wartend",
    done: "Erledigt",
    handedBack: "Zurückgegeben",
    rate: "Einheiten/s",
    arithmetic: "Arithmetik",
    kinds: "Arbeit",
    up: "Läuft seit",
  },
  otherVersion: (own) => `Er läuft mit einer anderen Version als dieser Server (${own}) und kann ihm nicht helfen.`,
  kinds: { games: "Partien", book: "Eröffnungsbücher", solve: "Stellungen", "self-play": "Selbstspiel", gate: "Gate-Matches", exam: "Prüfungen", moves: "Züge", sample: "Prüfstellungen" },
  gone: "In den letzten zehn Minuten ausgeschieden",
  stopped: (worker, ago, done) => `${worker} wurde vor ${ago} beendet, nach ${units(done)}.`,
  silent: (worker, ago, done) => `Von ${worker} ist seit ${ago} nichts zu hören; erledigt waren ${units(done)}.`,

  jobs: "Aufträge",
  noJobs: "Es laufen keine Aufträge. Starte ein Turnier in der Arena oder einen Befehl mit --nats.",
  job: (kind, host, version) => `${kind}, gestartet auf ${host}, Version ${version}`,
  progress: (done, all) => `${whole(done)} von ${units(all)}`,
  jobFacts: { repeated: "Wiederholt", checked: "Geprüft", setAside: "Beiseitegelegt", dismissed: "Ausgeschlossene Helfer", rate: "Einheiten/s", left: "Restzeit" },
  jobAbout: {
    repeated: "Ergebnisse, die doppelt ankamen, weil ein Helfer oder der NATS-Server unterbrochen wurde. Das zweite wird ignoriert.",
    checked: "Einheiten, die ein zweiter Helfer ebenfalls berechnet hat, mit demselben Ergebnis.",
    setAside: "Einheiten, bei denen drei Helfer abgestürzt sind. Der Auftrag wird ohne sie beendet.",
    dismissed: "Helfer, die ein falsches Ergebnis geliefert haben. Alle ihre Ergebnisse werden neu berechnet.",
  },
  setAside: (unit, reason) => `Einheit ${unit} wurde beiseitegelegt: ${reason}`,
  dismissed: (worker, reason) => `${worker} wurde ausgeschlossen: ${reason}`,

  servers: "Server",
  serverColumns: { server: "Server", connected: "Verbindung", version: "Version", led: "Geleitete Partien", live: "Partien im Speicher", up: "Läuft seit" },
  thisServer: (name) => `${name} (dieser)`,
  connected: "verbunden",
  cutOff: "erreicht NATS nicht",
  ledAbout: "Der Server, der eine Partie leitet, lässt die Computerspieler ziehen und führt die Uhr. Züge nimmt jeder Server an.",

  linkWorkers: (count) => `Flotte: ${workers(count)}`,
  linkNone: "Andere Rechner helfen lassen",
  playedBy: (count) => `Gespielt von ${plural(count, "Helfer", "Helfern")} der Flotte.`,
  latest: "Gerade beendete Partien",
  perSecond: (rate) => decimal(rate, 1),
};
