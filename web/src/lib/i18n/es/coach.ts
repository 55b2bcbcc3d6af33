/** Explicaciones con palabras: un texto para cada frase del entrenador. */

import type { Texts } from "../en";
import { plural } from "../format";

const moves = (n: number): string => plural(n, { one: "jugada", other: "jugadas" });
const listed = (items: (string | number)[]): string => (items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} y ${items.at(-1)}`);
const cell = ([column, row]: [number, number]): string => `la columna ${column}, fila ${row}`;
const inOrder = (columns: number[]): string => columns.join("-");
const coupled = ({ columns, only_marked }: { columns: [number, number][]; only_marked: boolean }): string => {
  if (columns.length === 0) return "";
  return only_marked ? " (las próximas fichas de las columnas marcadas se responden entre sí)" : ` (las próximas fichas de las columnas ${columns.map((couple) => couple.join(" y ")).join(", ")} se responden entre sí)`;
};

export const coach: Texts["coach"] = {
  why: "¿Por qué?",
  whyColumn: (column) => `¿Por qué? Columna ${column}`,
  whyPosition: "La posición",
  close: "Cerrar la explicación",
  thinking: "Buscando una razón…",
  plan: "Paso a paso",
  marks: "En el tablero: parejas de casillas de las que cada jugador recibe una, casillas rayadas que el ganador evita y la casilla decisiva con un anillo.",
  better: (column) => `Mostrar la columna ${column}`,
  turned: {
    win: (colour, ply, column) => `${colour} iba ganando hasta la jugada ${ply}, columna ${column}.`,
    draw: (ply, column) => `La partida estaba igualada hasta la jugada ${ply}, columna ${column}.`,
  },
  decided: (theme, winner, loser, cells) => {
    const places = listed(cells.map(cell));
    switch (theme) {
      case "win-now":
        return `${loser} no vio un cuatro en raya.`;
      case "must-block":
        return `No se bloqueó el cuatro en raya de ${winner}.`;
      case "opens-four":
        return `Abrió ${places} para el cuatro de ${winner}.`;
      case "double-threat":
        return `La amenaza doble de ${winner} fue decisiva.`;
      case "stacked-threats":
        return `Dos amenazas de ${winner}, una justo encima de la otra, fueron decisivas.`;
      case "odd-threat":
      case "even-threat":
        if (cells.length === 0) return "";
        return cells.length === 1 ? `La amenaza de ${winner} en ${places} fue decisiva.` : `Las amenazas de ${winner} en ${places} fueron decisivas.`;
      case "no-safe-move":
        return `Al final ${loser} no tenía ninguna jugada segura.`;
      case "follow-up":
        return `Desde entonces ${winner} podía responder justo encima de cada jugada.`;
      default:
        return "";
    }
  },
  missed: (theme) => `Lo que no se vio: ${theme}.`,
  themes: {
    double_threat: "Busca dos amenazas a la vez.",
    forced: "Busca amenazas que haya que bloquear.",
    every_reply: "Busca una jugada tras la que cualquier respuesta pierda.",
    every_move_opens: "Pronto el rival no tendrá ninguna jugada segura.",
    zugzwang: "Piensa en el final de la partida: ¿quién tendrá que jugar justo debajo de tu amenaza?",
    follow_up: "Responde justo encima de las fichas del rival y conseguirás las casillas que necesitas.",
  },
  show: "Mostrar el momento",
  onBoard: "Verlo en el tablero",
  terms: "Usar términos técnicos (zugzwang, claimeven)",
  inTerms: (sentence, names) => {
    const name = (player: 0 | 1): string => names[player];
    switch (sentence.key) {
      case "double_threat":
        return `${name(sentence.winner)} tiene una amenaza doble en las columnas ${listed(sentence.columns)}; ${name(sentence.loser)} solo puede bloquear una.`;
      case "every_move_opens":
        return `Zugzwang: cada jugada que le queda a ${name(sentence.loser)} (${sentence.columns.length === 1 ? "columna" : "columnas"} ${listed(sentence.columns)}) deja que ${name(sentence.winner)} conecte cuatro justo encima.`;
      case "forced_moves":
        return `Jugadas forzadas: ${inOrder(sentence.moves)}.`;
      case "zugzwang": {
        const one = sentence.cells.length === 1;
        const kind = one ? { odd: " impar", even: " par", mixed: "" }[sentence.parity] : { odd: " impares", even: " pares", mixed: "" }[sentence.parity];
        return `Zugzwang: ${name(sentence.winner)} tiene ${one ? "la amenaza" : "amenazas"}${kind} en ${listed(sentence.cells.map(cell))}, nunca juega justo debajo y en lo demás responde justo encima${coupled(sentence.couples)} hasta que ${name(sentence.loser)} tenga que hacerlo.`;
      }
      case "follow_up":
        return `Claimeven: ${name(sentence.winner)} responde justo encima${coupled(sentence.couples)} y consigue cuatro en raya desde ${cell(sentence.from)} hasta ${cell(sentence.to)}.`;
      case "holds_by_follow_up":
        return `Claimeven: ${name(sentence.player)} responde justo encima${coupled(sentence.couples)}, y ${name(sentence.opponent)} no consigue ningún cuatro.`;
      case "no_four_left":
        return `A ${name(sentence.player)} no le queda ningún cuatro.`;
      default:
        return null;
    }
  },
  say: (sentence, names) => {
    const name = (player: 0 | 1): string => names[player];
    switch (sentence.key) {
      case "won":
        return `${name(sentence.winner)} ha conectado cuatro.`;
      case "drawn":
        return "El tablero está lleno: empate.";
      case "wins_in":
        return `${name(sentence.winner)} gana en ${moves(sentence.moves)}.`;
      case "draw":
        return "Con el mejor juego es empate.";
      case "best_play":
        return `El mejor juego: ${inOrder(sentence.moves)}.`;
      case "wins_now":
        return `${name(sentence.winner)} gana ya: la columna ${sentence.column} hace cuatro en raya.`;
      case "double_threat":
        return `${name(sentence.winner)} puede conectar cuatro en las columnas ${listed(sentence.columns)}, y ${name(sentence.loser)} solo puede bloquear una.`;
      case "stacked_threat":
        return `${name(sentence.loser)} tiene que bloquear la columna ${sentence.column}, y entonces ${name(sentence.winner)} conecta cuatro justo encima.`;
      case "every_move_opens":
        return `Cada jugada que le queda a ${name(sentence.loser)} (${sentence.columns.length === 1 ? "columna" : "columnas"} ${listed(sentence.columns)}) deja que ${name(sentence.winner)} conecte cuatro justo encima.`;
      case "threatens":
        return `${name(sentence.winner)} juega la columna ${sentence.column}.`;
      case "must_block":
        return `${name(sentence.loser)} tiene que bloquear la columna ${sentence.column}.`;
      case "forced_moves":
        return `${name(sentence.winner)} amenaza una y otra vez, y ${name(sentence.loser)} tiene que bloquear: ${inOrder(sentence.moves)}.`;
      case "every_reply":
        return `Juegue lo que juegue ${name(sentence.loser)}, ${name(sentence.winner)} fuerza la victoria.`;
      case "every_reply_loses_now":
        return `Juegue lo que juegue ${name(sentence.loser)}, ${name(sentence.winner)} conecta cuatro.`;
      case "suppose":
        return `Supongamos que ${name(sentence.loser)} juega la columna ${sentence.column}.`;
      case "zugzwang": {
        const one = sentence.cells.length === 1 ? "debajo" : "debajo de una de ellas";
        return `${name(sentence.winner)} espera conectar cuatro en ${listed(sentence.cells.map(cell))}: nunca juega justo debajo y responde a cualquier otra jugada justo encima${coupled(sentence.couples)}. Al final ${name(sentence.loser)} tiene que jugar justo ${one}.`;
      }
      case "follow_up":
        return `${name(sentence.winner)} responde a cada jugada justo encima${coupled(sentence.couples)} y así consigue cuatro en raya desde ${cell(sentence.from)} hasta ${cell(sentence.to)}.`;
      case "no_four_for":
        return `${name(sentence.player)} nunca consigue cuatro en raya.`;
      case "too_late":
        return `Cualquier cuatro de ${name(sentence.player)} llegaría tarde.`;
      case "numbers":
        return `${name(sentence.winner)} responde a cada jugada según los números del tablero: el más alto que se pueda jugar, pero no justo debajo de una casilla donde ${name(sentence.loser)} conectaría cuatro. Antes van los cuatros, los bloqueos y las victorias forzadas.`;
      case "nobody_can_connect":
        return "Ya nadie puede conectar cuatro.";
      case "no_four_left":
        return `${name(sentence.player)} ya no puede conectar cuatro en ningún sitio.`;
      case "holds_by_follow_up":
        return `${name(sentence.player)} responde a cada jugada justo encima${coupled(sentence.couples)}, así que ${name(sentence.opponent)} nunca consigue cuatro en raya.`;
      case "cannot_win_by_calculation":
        return `El cálculo muestra que ${name(sentence.player)} no puede ganar.`;
      case "calculation":
        return `Hallado por cálculo, a ${moves(sentence.moves)} de profundidad: todavía no hay una razón más sencilla.`;
      case "keeps_win":
        return `La columna ${sentence.column} mantiene la victoria.`;
      case "keeps_draw":
        return `La columna ${sentence.column} mantiene el empate.`;
      case "loses_slowest":
        return `La columna ${sentence.column} pierde, pero ninguna otra jugada aguanta más.`;
      case "wins_slower":
        return `La columna ${sentence.column} también gana, en ${moves(sentence.moves)}; la columna ${sentence.better} gana en ${sentence.better_moves}.`;
      case "win_to_draw":
        return `La columna ${sentence.column} deja escapar la victoria de ${name(sentence.player)}: ahora es empate.`;
      case "win_to_loss":
        return `La columna ${sentence.column} convierte la victoria de ${name(sentence.player)} en derrota.`;
      case "draw_to_loss":
        return `La columna ${sentence.column} convierte el empate en derrota para ${name(sentence.player)}.`;
      case "loses_sooner":
        return `La columna ${sentence.column} pierde antes que la columna ${sentence.better}.`;
      case "opens":
        return `Deja que ${name(sentence.opponent)} conecte cuatro justo encima, en ${cell(sentence.cell)}.`;
      case "leaves_four":
        return `No detiene a ${name(sentence.opponent)}, que conecta cuatro en la columna ${sentence.column}.`;
      case "could_connect":
        return `${name(sentence.player)} podía conectar cuatro en la columna ${sentence.column}.`;
      case "better_wins":
        return `La columna ${sentence.column} mantiene la victoria.`;
      case "better_draws":
        return `La columna ${sentence.column} mantiene el empate.`;
      default:
        return "";
    }
  },
};
