"""The eleven data sets: files, target, metric, split, and what peers reached on them.

A set of one file is split by row: row i (from 0) is test if i mod 5 = 0, validation if i mod 5 = 1,
else training. Figures: library defaults on these splits, the better of fitting on the training rows
with early stopping on the validation rows, and fitting on both; scikit-learn, LightGBM 4.7, XGBoost,
CatBoost 1.2.10. `quality.sh --peers` measures them anew.
"""
import collections
import os
import shutil

PEERS = ("logreg", "histgb", "lgbm", "xgb", "mlp", "catboost")
Set = collections.namedtuple("Set", "name file target metric task ignore published")
SETS = [Set(*row) for row in (
    ("bank", "bank-marketing/bank-full.csv", "y", "auc", "binary", ["duration"],
     (0.7580, 0.7988, 0.8026, 0.7946, 0.7870, 0.8046)),
    ("adult", "adult/adult_train.csv", "income", "auc", "binary", [],
     (0.9055, 0.9271, 0.9274, 0.9257, 0.9107, 0.9281)),
    ("telco", "telco-churn/Telco-Customer-Churn.csv", "Churn", "auc", "binary", ["customerID"],
     (0.8354, 0.8179, 0.8304, 0.8240, 0.8331, 0.8364)),
    ("credit-g", "credit-g/GermanCredit_named.csv", "credit_risk", "auc", "binary", [],
     (0.7347, 0.7438, 0.7145, 0.7545, 0.7161, 0.7559)),
    ("higgs", "rtdl-splits/higgs-small/val.csv", "y", "auc", "binary", [],
     (0.6791, 0.7826, 0.7839, 0.7683, 0.7330, 0.7875)),
    ("california", "rtdl-splits/california/train.csv", "y", "rmse", "regression", [],
     (0.7276, 0.4652, 0.4495, 0.4579, 0.5382, 0.4343)),
    ("diamonds", "diamonds/diamonds.csv", "price", "rmse", "regression", [],
     (1149, 554, 548, 558, 587, 534)),
    ("wine", "wine-quality/winequality.csv", "quality", "rmse", "regression", [],
     (0.7053, 0.6130, 0.6121, 0.6018, 0.6405, 0.6047)),
    ("otto", "otto/train.csv", "target", "accuracy", "multiclass", ["id"],
     (0.7643, 0.8117, 0.8115, 0.8156, 0.7926, 0.8011)),
    ("covtype", "covertype/kaggle_train_15120.csv", "Cover_Type", "accuracy", "multiclass", ["Id"],
     (0.7156, 0.8578, 0.8677, 0.8601, 0.8247, 0.8618)),
    ("mnist", "mnist-10k/mnist_t10k.csv", None, "accuracy", "multiclass", [],
     (0.9010, 0.9490, 0.9525, 0.9450, 0.9405, 0.9390)),
)]
NAMES = [s.name for s in SETS]
CALIBRATED = ("bank", "adult", "higgs")  # where the calibration error has a limit


def find(name):
    return SETS[NAMES.index(name)]


def level(one, ours, theirs):
    """ours is level with theirs, or better."""
    if one.metric == "rmse":
        return ours <= theirs * 1.005
    return ours >= theirs - 0.001


def _deal(source, parts):
    """The rows of a file, dealt by row number: parts(i) names one of the files."""
    with open(source, newline="") as f:
        header, files = f.readline(), {}
        for i, row in enumerate(f):
            path = parts(i)
            if path not in files:
                files[path] = open(path, "w", newline="")
                files[path].write(header)
            files[path].write(row)
    for f in files.values():
        f.close()


def target_of(one, folder):
    if one.target:
        return one.target
    with open(f"{folder}/{one.name}-train.csv") as f:  # the first column
        return f.readline().strip().split(",")[0].strip('"')


def prepare(one, data, folder):
    """NAME-train.csv, NAME-valid.csv and NAME-test.csv; False: the data are not there."""
    source = os.path.join(data, one.file)
    to = {p: f"{folder}/{one.name}-{p}.csv" for p in ("train", "valid", "test")}
    if not os.path.exists(source):
        return False
    if all(os.path.exists(p) for p in to.values()):
        return True
    beside = os.path.dirname(source)
    if one.name == "california":
        for part, file in (("train", "train"), ("valid", "val"), ("test", "test")):
            shutil.copy(f"{beside}/{file}.csv", to[part])
    elif one.name == "higgs":  # fit on val.csv
        _deal(source, lambda i: to["valid" if i % 5 == 1 else "train"])
        shutil.copy(f"{beside}/test.csv", to["test"])
    elif one.name == "adult":
        _deal(source, lambda i: to["valid" if i % 5 == 0 else "train"])
        shutil.copy(f"{beside}/adult_test.csv", to["test"])
    else:
        _deal(source, lambda i: to["test" if i % 5 == 0 else "valid" if i % 5 == 1 else "train"])
    return True
