#!/bin/bash
# refuses.sh - which models `dnn train` does not write: one that is no better than a constant answer over an older model, and one that
# does not meet a gate of --require. Ids: F06.
. "$(dirname "$0")/../tap.sh"
. "$ROOT/tests/training.sh"
cpu='"backend": {"name": "dnn_cpu", "threads": 1}'
make_data d.csv 900
make_config c.json d.csv binary '"epochs": 30, "optimizer": {"learning_rate": 0.03}' "$cpu"
train() { run dnn train c.json -o m.dnn --progress none "$@"; }

# too few rows to be the right file
train --set data.min_rows=631
is_exit 65 "fewer training rows than data.min_rows: 65"
err_has "error[E1240]" "  its id"
err_has "there are 630 training rows, and data.min_rows asks for 631" "  both numbers"
run dnn check c.json --set data.min_rows=631
is_exit 65 "  check too"
run dnn check c.json --set data.min_rows=630
is_exit 0 "  as many are enough" "$(cat err)"

# where no model is, a useless one is written, with a warning
train --set train.optimizer.learning_rate=0.000001 --time-limit 0.000001
is_exit 0 "a time limit inside the first epoch, and no model yet: exit 0"
err_has "warning: on the validation rows the model is no better than a constant answer" "a time limit inside the first epoch: a warning"
rm -f m.dnn
train
is_exit 0 "a good model"
good=$(digest m.dnn)
kept() { is "$(digest m.dnn)" "$good" "$1"; }

# over a model it is not
train --set train.optimizer.learning_rate=0.000001 --time-limit 0.000001 -q
is_exit 82 "the same where a good model is: 82"
err_has 'error[E1905]: the new model is no better than a constant answer: loss'
err_has "--force" "how to replace it all the same"
kept "F06 the good model stays"
no_leftovers m.dnn "and nothing else"
train --set train.optimizer.learning_rate=0.000001 --time-limit 0.000001 --set data.split.valid=0
is_exit 82 "without validation rows as well"
kept "the good model stays"
train --set train.optimizer.learning_rate=0.0000000001 --set train.epochs=1 --json
is_exit 82 "a rate at which nothing is learnt: 82"
out_has '"exit":82' "as JSON too"
kept "the good model stays"
train --set train.optimizer.learning_rate=0.000001 --time-limit 0.000001 --force
is_exit 0 "--force replaces a good model by a useless one"
[ "$(digest m.dnn)" != "$good" ]
ok $? "by the useless one"
train
is_exit 0 "a good one replaces a useless one"
kept "the good model is the same again"

# a better one of less than an epoch replaces it, and the warning names both
train --time-limit 0.000001 -q
is_exit 0 "a time limit inside the first epoch, better than a constant answer: exit 0"
err_has 'warning: the model, trained for less than an epoch, replaces "m.dnn" (validation logloss 0.' "a warning even under -q"
err_has ', of the replaced model 0.' "a better model of less than an epoch: the figures of both"
train
kept "the same bytes again"

# no input has a weight: the loss is that of the constant but for the last digits
awk 'BEGIN { seed = 3; print "x,y"; for (i = 0; i < 400; i++) { seed = (seed * 16807) % 2147483647; seed = (seed * 16807) % 2147483647
    print (seed % 2 ? "a" : "b") "," (i % 3 ? "no" : "yes") } }' >noise.csv
cat >noise.json <<JSON
{"task": "binary", "data": {"train": "noise.csv", "target": "y", "columns": {"x": "categorical"}}, "model": {"preset": "linear"}, $cpu}
JSON
run dnn train noise.json -o noise.dnn
err_has "no better than a constant answer" "a model that answers one constant: a warning"
run dnn train noise.json -o m.dnn
is_exit 82 "a model that answers one constant replaces no model"
kept "the good model stays"
# answers that order nothing, though nearer to the labels of the test rows than the training's shares are
awk 'BEGIN { print "x,part,y";
    for (i = 0; i < 400; i++) print (i % 2 ? "a" : "b") "," (i < 200 ? "train" : i % 8 < 4 ? "valid" : "test") "," \
    (i < 200 ? (i % 20 ? "no" : "yes") : i % 4 < 2 ? "no" : "yes") }' >level.csv
cat >level.json <<JSON
{"task": "binary", "data": {"train": "level.csv", "target": "y", "columns": {"x": "categorical"},
  "split": {"method": "column", "column": "part"}},
 "model": {"preset": "mlp", "hidden": [4]}, "train": {"epochs": 1, "optimizer": {"learning_rate": 1e-6}}, "calibrate": "none", $cpu}
JSON
run dnn train level.json -o level.dnn
is_exit 0 "AUC 0.5 and a loss below the constant's"
err_has "warning: the model orders the labels no better than a constant answer: AUC 0.5 on the validation rows;" "a warning"

# gates
train --set train.seed=1 --require 'auc>1' --require 'logloss<=5'
is_exit 82 "a gate that is not met: 82"
err_has 'error[E1906]: gate not met on the test rows: auc>1, measured 1'
err_lacks 'logloss<=5, measured' "of two gates the one that is not met is named"
err_has 'dnn: gates    auc>1: NOT met (1); logloss<=5: met (' "every gate in a line of its own"
is "$(grep -nE '^dnn: (auc|gates) ' err | cut -d' ' -f2 | tr '\n' ' ')" "auc gates " "behind the metrics"
err_has "m.dnn is unchanged"
kept "the old model stays"
train --set train.seed=1 --require 'auc>1' --force
is_exit 82 "--force overrides no gate"
kept "the old model stays"
train --set train.seed=1 --set data.split.test=0 --require 'auc>1'
err_has "gate not met on the validation rows" "without test rows the validation rows count"
train --set data.split.test=0 --set data.split.valid=0 --require 'auc>=0.5' --set train.epochs=5
is_exit 64 "without either there is nothing to measure"
err_has "data.split leaves neither"
train --require 'auk>=0.5'
is_exit 64 "a gate of no metric: 64"
err_has 'did you mean "auc"?'
train --require 'rmse<5'
is_exit 64 "a gate of another task: 64"
kept "the old model stays"
train --set train.seed=1 --require 'auc>=0.6' --require 'logloss<0.7' --json
is_exit 0 "gates that are met"
out_has '"gates":[{"gate":"auc>=0.6","value":1' "gates that are met are in the summary"
[ "$(digest m.dnn)" != "$good" ]
ok $? "the new model is there"
rm -f m.dnn
train --require 'auc>1'
is_exit 82 "no model yet, and a gate that is not met: 82"
[ ! -e m.dnn ]
ok $? "nothing is written"
# what a long training reached is not lost with the gate
train --require 'auc>1' --set train.checkpoint.every_s=0
is_exit 82 "a gate that is not met, and checkpoints"
err_has "--resume continues from there"
train --resume --set train.checkpoint.every_s=0
is_exit 0 "the gate left out, and --resume"
no_leftovers m.dnn "the model is there, the checkpoints are gone"
# --resume=or-restart
train --set train.seed=7 --require 'auc>1' --set train.checkpoint.every_s=0
train --resume
is_exit 76 "--resume with the checkpoints of another seed: 76"
train --resume=or-restart
is_exit 0 "--resume=or-restart starts afresh"
err_has "its checkpoints are removed, and the training starts afresh" "--resume=or-restart: a note says that it starts afresh"
no_leftovers m.dnn "and they are gone"
done_testing
